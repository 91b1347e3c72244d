/** The mark: one deed, cut in two along a toothed line. */
export function Mark({ size = 26 }: { size?: number }) {
  return (
    <svg aria-hidden="true" viewBox="0 0 26 26" width={size} height={size} className="shrink-0">
      <path d="M4 1h18a3 3 0 0 1 3 3v11.2l-5.6-7.4-6.4 7.5-6.4-7.5L1 15.2V4a3 3 0 0 1 3-3z" className="fill-petrol" />
      <path d="m1 18.6 5.6-7.4L13 18.7l6.4-7.5 5.6 7.4V22a3 3 0 0 1-3 3H4a3 3 0 0 1-3-3z" className="fill-ink opacity-85" />
    </svg>
  );
}

/** The toothed upper edge of a receipt. Stretches with its paper. */
export function ToothedEdge({ className }: { className?: string }) {
  const teeth = Array.from({ length: 28 }, (_, index) => `L${index * 10 + 5} 0 L${index * 10 + 10} 9`).join(" ");
  return (
    <svg aria-hidden="true" viewBox="0 0 280 10" preserveAspectRatio="none" className={className}>
      <path d={`M0 10 L0 9 ${teeth} L280 10 Z`} className="fill-raised" />
      <path d={`M0 9 ${teeth}`} fill="none" className="stroke-line-2" vectorEffect="non-scaling-stroke" />
    </svg>
  );
}
