"use client";

import { useCallback, useEffect, useRef, useState } from "react";

/**
 * A field whose value lives in the address: letters show at once, the address follows when the typing stands still, and a
 * change from elsewhere (back, a link) shows in the field. `flush` does not wait.
 */
export function useTyped(value: string, send: (value: string) => void, calmMs = 250): [typed: string, type: (typed: string) => void, flush: () => void] {
  const [typed, setTyped] = useState(value);
  const sent = useRef(value);
  const latest = useRef(send);
  useEffect(() => {
    latest.current = send;
  });
  useEffect(() => {
    if (value !== sent.current) {
      sent.current = value;
      setTyped(value);
    }
  }, [value]);
  const flush = useCallback(() => {
    if (typed === sent.current) return;
    sent.current = typed;
    latest.current(typed);
  }, [typed]);
  useEffect(() => {
    const timer = setTimeout(flush, calmMs);
    return () => clearTimeout(timer);
  }, [flush, calmMs]);
  return [typed, setTyped, flush];
}
