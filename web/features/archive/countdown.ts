/** Lets `seconds` pass and tells how many are left, the whole and each one after it. Returns early when it is stopped. */
export function countDown(seconds: number, onLeft: (seconds: number) => void, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const until = performance.now() + seconds * 1000;
    const left = () => Math.max(0, Math.ceil((until - performance.now()) / 1000));
    const finish = () => {
      clearInterval(timer);
      signal.removeEventListener("abort", finish);
      resolve();
    };
    const timer = setInterval(() => {
      onLeft(left());
      if (left() === 0) finish();
    }, 1000);
    signal.addEventListener("abort", finish);
    onLeft(Math.ceil(seconds));
    if (signal.aborted || seconds <= 0) finish();
  });
}
