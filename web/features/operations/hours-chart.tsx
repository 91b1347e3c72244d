"use client";

import { useEffect, useId, useRef, useState, type RefObject } from "react";

import { formatClock, formatCount } from "@/lib/format";
import { operations as t } from "@/text";

import { barsOf, heightAt, stepOf, ticksOf, type Frame } from "./chart-scale";
import { clocksOf, findingOf, type Hour } from "./hours";

const HEIGHT = 190;
const EVERY = 4;

/** One bar an hour: read below, failed on top, the running hour hatched. Drawn at its real width, so that letters keep their size. */
export function HoursChart({ hours }: { hours: readonly Hour[] }) {
  const box = useRef<HTMLDivElement>(null);
  const width = useWidth(box);
  const hatch = useId();
  const title = useId();
  const step = stepOf(Math.max(0, ...hours.map((hour) => hour.done + hour.failed)));
  const frame: Frame = { left: 12 + 7 * formatCount(step * 4).length, right: width, top: 8, bottom: HEIGHT - 24 };
  const bars = barsOf(hours.length, frame);
  return (
    <div ref={box} className="min-w-0">
      {width > 0 && (
        <svg role="img" aria-labelledby={title} width={width} height={HEIGHT} className="block text-[11px]">
          <title id={title}>{findingOf(hours)}</title>
          <defs>
            <pattern id={hatch} width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
              <rect width="2.5" height="5" className="fill-petrol-fill" />
            </pattern>
          </defs>
          {ticksOf(step).map((tick) => (
            <g key={tick}>
              <line
                x1={frame.left}
                x2={frame.right}
                y1={heightAt(tick, step, frame)}
                y2={heightAt(tick, step, frame)}
                className={tick === 0 ? "stroke-edge" : "stroke-line"}
              />
              <text x={frame.left - 6} y={heightAt(tick, step, frame) + 4} textAnchor="end" className="fill-ink-3">
                {formatCount(tick)}
              </text>
            </g>
          ))}
          {hours.map((hour, index) => {
            const bar = bars[index];
            if (!bar) return null;
            const done = heightAt(hour.done, step, frame);
            const top = heightAt(hour.done + hour.failed, step, frame);
            const isRunning = index === hours.length - 1;
            return (
              <g key={hour.hour}>
                <rect
                  x={bar.x}
                  width={bar.width}
                  y={done}
                  height={frame.bottom - done}
                  fill={isRunning ? `url(#${hatch})` : undefined}
                  className={isRunning ? "stroke-petrol-fill" : "fill-petrol-fill"}
                />
                <rect x={bar.x} width={bar.width} y={top} height={done - top} className="fill-wax" />
              </g>
            );
          })}
          {hours.map((hour, index) => {
            const begins = new Date(hour.hour);
            const bar = bars[index];
            if (!bar || begins.getHours() % EVERY !== 0) return null;
            return (
              <text
                key={hour.hour}
                x={Math.min(Math.max(bar.x + bar.width / 2, frame.left + 14), frame.right - 16)}
                y={HEIGHT - 8}
                textAnchor="middle"
                className="fill-ink-3"
              >
                {formatClock(begins)}
              </text>
            );
          })}
        </svg>
      )}
    </div>
  );
}

/** The same figures for whoever reads rather than looks. */
export function HoursTable({ hours }: { hours: readonly Hour[] }) {
  return (
    <div className="max-h-[240px] overflow-auto" tabIndex={0} role="region" aria-label={t.processing.title}>
      <table className="w-full text-13 [&_td]:border-t [&_td]:border-line [&_td]:py-1 [&_th]:sticky [&_th]:top-0 [&_th]:bg-sheet [&_th]:py-1 [&_th]:text-12 [&_th]:text-ink-3">
        <thead>
          <tr>
            <th scope="col" className="text-left">
              {t.processing.hour}
            </th>
            <th scope="col" className="text-right">
              {t.processing.done}
            </th>
            <th scope="col" className="text-right">
              {t.processing.failed}
            </th>
          </tr>
        </thead>
        <tbody>
          {hours.toReversed().map((hour, index) => (
            <tr key={hour.hour}>
              <td>
                {clocksOf(hour).join("–")} {index === 0 && <span className="text-ink-3">{t.processing.running}</span>}
              </td>
              <td className="text-right">{formatCount(hour.done)}</td>
              <td className={`text-right ${hour.failed ? "text-wax" : ""}`}>{formatCount(hour.failed)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function useWidth(box: RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(0);
  useEffect(() => {
    if (!box.current) return;
    const observer = new ResizeObserver(([entry]) => setWidth(Math.floor(entry?.contentRect.width ?? 0)));
    observer.observe(box.current);
    return () => observer.disconnect();
  }, [box]);
  return width;
}
