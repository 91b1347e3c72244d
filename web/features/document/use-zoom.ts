"use client";

import { useState } from "react";

const STEPS = [0.5, 0.67, 0.8, 1, 1.25, 1.5, 2, 2.5, 3, 4] as const;

export interface Zoom {
  /** 1 fits the width of the pane. */
  value: number;
  larger: () => void;
  smaller: () => void;
  fit: () => void;
}

export function useZoom(): Zoom {
  const [value, setValue] = useState<number>(1);
  return {
    value,
    larger: () => setValue((now) => STEPS.find((step) => step > now) ?? now),
    smaller: () => setValue((now) => STEPS.findLast((step) => step < now) ?? now),
    fit: () => setValue(1),
  };
}
