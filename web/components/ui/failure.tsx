"use client";

import { common } from "@/text";

import { Button } from "./button";
import { CopyButton } from "./copy-button";
import { requestIdOf, sentencesOf } from "./error-sentences";
import { Icon } from "./icons";

/** A region that could not be shown: what failed, that nothing is lost, what to do. */
export function Failure({ error, onRetry }: { error: unknown; onRetry: () => void }) {
  const requestId = requestIdOf(error);
  const { title, text } = sentencesOf(error);
  return (
    <div role="alert" className="grid justify-items-center gap-2 px-6 py-12 text-center">
      <Icon name="alert" size={24} className="text-wax" />
      <p className="text-16 font-semibold">{common.broken.title}</p>
      <p className="max-w-[60ch] text-13 text-ink-2 [overflow-wrap:anywhere]">{text ? `${title}. ${text}` : title}</p>
      <p className="max-w-[60ch] text-13 text-ink-2">{requestId ? common.broken.calm : common.broken.calmWithoutNumber}</p>
      {requestId && <p className="font-proof text-12 text-ink-3">{common.broken.request(requestId)}</p>}
      <div className="mt-2 flex flex-wrap justify-center gap-2">
        <Button kind="primary" icon="retry" onClick={onRetry}>
          {common.tryAgain}
        </Button>
        {requestId && <CopyButton value={requestId}>{common.copyNumber}</CopyButton>}
      </div>
    </div>
  );
}
