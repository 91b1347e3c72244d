"use client";

import { useQuery } from "@tanstack/react-query";

import { Dialog } from "@/components/ui/dialog";
import { Failure } from "@/components/ui/failure";
import { Bone, Skeleton } from "@/components/ui/skeleton";
import { getReceipt, keys } from "@/lib/api";
import { archive as t } from "@/text";

import { ReceiptPaper } from "./receipt-paper";

/** One receipt, which its address keeps open. */
export function ReceiptDialog({ receiptId, onClose }: { receiptId: string; onClose: () => void }) {
  const { data, error, refetch } = useQuery({
    queryKey: keys.receipts({ id: receiptId }),
    queryFn: ({ signal }) => getReceipt(receiptId, signal),
    staleTime: Infinity, // once it is signed
    refetchInterval: ({ state }) => (state.data && "pending" in state.data ? 5000 : false),
  });
  return (
    <Dialog isOpen isPaper onClose={onClose} title={t.receipt.label}>
      {data && ("pending" in data ? <p className="py-6">{t.receipt.pending}</p> : <ReceiptPaper receipt={data} onClose={onClose} />)}
      {error && <Failure error={error} onRetry={() => void refetch()} />}
      {!data && !error && (
        <Skeleton className="grid gap-3 py-6">
          {["40%", "70%", "100%", "100%", "60%"].map((width, index) => (
            <Bone key={index} width={width} />
          ))}
        </Skeleton>
      )}
    </Dialog>
  );
}
