"use client";

import { useState } from "react";

import { Button } from "@/components/ui/button";
import { ConfirmDialog } from "@/components/ui/confirm-dialog";
import { Failure } from "@/components/ui/failure";
import { Bone, Skeleton } from "@/components/ui/skeleton";
import { Time } from "@/components/ui/time";
import { showToast } from "@/components/ui/toast-store";
import { useNow } from "@/lib/use-now";
import type { Token } from "@/lib/api";
import { account } from "@/text";

import { Section } from "./section";
import { TokenDialog } from "./token-dialog";
import { useRevokeToken, useTokens } from "./use-tokens";

const t = account.tokens;

export function TokensSection() {
  const tokens = useTokens();
  const revoke = useRevokeToken();
  const [isMaking, setMaking] = useState(false);
  const [leaving, setLeaving] = useState<Token | null>(null);
  return (
    <Section
      title={t.title}
      text={t.text}
      action={
        <Button icon="plus" onClick={() => setMaking(true)}>
          {t.create}
        </Button>
      }
    >
      {tokens.isPending && (
        <Skeleton className="py-2">
          <Bone width="50%" />
        </Skeleton>
      )}
      {tokens.error && <Failure error={tokens.error} onRetry={() => void tokens.refetch()} />}
      {tokens.data?.total === 0 && <p className="text-13 text-ink-3">{t.none}</p>}
      {tokens.data && tokens.data.total > 0 && (
        <ul aria-label={t.list} className="divide-y divide-line border-y border-line">
          {tokens.data.items.map((token) => (
            <TokenRow key={token.id} token={token} onRevoke={() => setLeaving(token)} />
          ))}
        </ul>
      )}
      {isMaking && <TokenDialog onClose={() => setMaking(false)} />}
      {leaving && (
        <ConfirmDialog
          isOpen
          isDestructive
          onClose={() => setLeaving(null)}
          question={<bdi>{t.revokeQuestion(leaving.name)}</bdi>}
          action={t.revokeAction}
          onConfirm={async () => {
            await revoke(leaving.id);
            showToast({ text: t.revoked(leaving.name), icon: "check" });
          }}
        />
      )}
    </Section>
  );
}

function TokenRow({ token, onRevoke }: { token: Token; onRevoke: () => void }) {
  const isOver = new Date(token.expires_at) <= useNow();
  return (
    <li className="flex flex-wrap items-center gap-x-6 gap-y-1 py-2.5 text-13 text-ink-2">
      <bdi className="min-w-0 flex-[1_1_220px] text-14 font-medium text-ink [overflow-wrap:anywhere]">{token.name}</bdi>
      <Fact label={t.columns.created}>
        <Time at={token.created_at} />
      </Fact>
      <Fact label={t.columns.used}>{token.last_used_at ? <Time at={token.last_used_at} /> : t.never}</Fact>
      <Fact label={isOver ? t.ended : t.columns.expires} isBad={isOver}>
        <Time at={token.expires_at} />
      </Fact>
      <Button kind="wax-outline" size="small" aria-label={t.revokeFor(token.name)} onClick={onRevoke}>
        {t.revoke}
      </Button>
    </li>
  );
}

function Fact({ label, isBad = false, children }: { label: string; isBad?: boolean; children: React.ReactNode }) {
  return (
    <span className="min-w-[110px]">
      <span className={isBad ? "font-semibold text-wax" : "text-ink-3"}>{label}</span> {children}
    </span>
  );
}
