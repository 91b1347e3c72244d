import { signIn as t } from "@/text";

const TEETH = 16;

/** A deed cut in two along a toothed line: whoever holds one half can prove the other. */
export function Indenture() {
  return (
    <aside className="relative hidden overflow-hidden bg-[oklch(0.30_0.045_212)] text-[oklch(0.965_0.010_195)] md:flex md:flex-col dark:bg-[oklch(0.245_0.035_212)]">
      <svg aria-hidden="true" viewBox="0 0 560 640" className="m-auto w-[min(560px,84%)] overflow-visible">
        <g transform="rotate(-2.4 280 150)">
          <path d={upper()} className="fill-paper" filter="drop-shadow(0 18px 30px rgb(0 0 0 / .28))" />
          <Lines y={64} widths={[150]} />
          <Lines y={92} widths={[384, 368, 392, 250]} />
          <Lines y={168} widths={[380, 392, 342]} />
        </g>
        <g transform="rotate(1.2 280 480)">
          <path d={lower()} className="fill-paper" opacity="0.96" filter="drop-shadow(0 18px 30px rgb(0 0 0 / .28))" />
          <Lines y={420} widths={[392, 376, 274]} />
          <Lines y={482} widths={[386, 366, 390, 168]} />
          <Seal />
        </g>
      </svg>
      <p className="px-10 pb-8 font-doc text-16">
        <b className="font-semibold">{t.word}</b> <i className="opacity-75">{t.wordKind}</i>
        <span className="block opacity-85">{t.wordMeans}</span>
      </p>
    </aside>
  );
}

/** The teeth from left to right, around the height `y`. */
function teeth(y: number): string {
  const width = 500 / TEETH;
  return Array.from({ length: TEETH }, (_, index) => {
    const x = 30 + index * width;
    return `L${x + width / 2} ${y + 18} L${x + width} ${y}`;
  }).join(" ");
}

const upper = (): string => `M30 20 H530 V266 ${reversedTeeth(266)} Z`;
const lower = (): string => `M30 320 ${teeth(320)} V610 H30 Z`;

/** The same teeth, drawn back from the right. */
function reversedTeeth(y: number): string {
  const width = 500 / TEETH;
  return Array.from({ length: TEETH }, (_, index) => {
    const x = 530 - index * width;
    return `L${x - width / 2} ${y + 18} L${x - width} ${y}`;
  }).join(" ");
}

function Lines({ y, widths }: { y: number; widths: readonly number[] }) {
  return widths.map((width, index) => <rect key={index} x={72} y={y + index * 15} width={width} height={4} rx={2} className="fill-paper-line opacity-80" />);
}

function Seal() {
  return (
    <g transform="translate(430 560)">
      <circle r="25" className="fill-[oklch(0.48_0.165_27)]" />
      <circle r="19" fill="none" stroke="white" strokeOpacity="0.35" />
      <path d="M-9 5 -5 -5 0 3 5 -5 9 5" fill="none" stroke="white" strokeWidth="2.2" strokeLinecap="round" strokeLinejoin="round" />
    </g>
  );
}
