/**
 * From a snippet of the search to its place in the text of the page. A snippet has its line ends as spaces and `…` where it
 * was cut, so the two are compared without regard to the kind and number of their spaces.
 */
import { cutter, lengthOf, type Span } from "@/lib/spans";

interface Line {
  /** One unit for each character, spaces as one. */
  text: string;
  /** Where each of them stands in the original, in characters. */
  at: readonly number[];
}

function lineOf(text: string): Line {
  const at: number[] = [];
  let line = "";
  let index = 0;
  for (const letter of text) {
    const isSpace = /\s/.test(letter);
    if (!isSpace || (line !== "" && !line.endsWith(" "))) {
      // What takes two halves stands for one, or the numbers would run apart.
      line += isSpace ? " " : letter.length === 1 ? letter : "\ufffd";
      at.push(index);
    }
    index += 1;
  }
  return line.endsWith(" ") ? { text: line.slice(0, -1), at: at.slice(0, -1) } : { text: line, at };
}

const CUT = /^…|…$/g;

/** Where the snippet stands in the text, or null. */
export function findPassage(text: string, snippet: string): Span | null {
  const wanted = lineOf(snippet.replace(CUT, ""));
  if (wanted.text === "") return null;
  const line = lineOf(text);
  const found = line.text.indexOf(wanted.text);
  if (found === -1) return null;
  return [at(line, found), at(line, found + wanted.text.length - 1) + 1];
}

/** The highlights of a snippet as places in the text that it was cut from. */
export function highlightsIn(text: string, snippet: string, highlights: readonly Span[]): Span[] {
  const head = snippet.startsWith("…") ? 1 : 0;
  const wanted = lineOf(snippet.replace(CUT, ""));
  const line = lineOf(text);
  const found = line.text.indexOf(wanted.text);
  if (found === -1 || wanted.text === "") return [];
  return highlights.flatMap(([start, end]): Span[] => {
    const first = wanted.at.findIndex((place) => place >= start - head);
    const last = wanted.at.findLastIndex((place) => place < end - head);
    return first === -1 || last < first ? [] : [[at(line, found + first), at(line, found + last) + 1]];
  });
}

const at = (line: Line, index: number): number => line.at[index] ?? 0;

const ENOUGH = 70;

/** What names a passage in an address: its beginning, cut at a word. */
export function nameOf(snippet: string): string {
  const whole = snippet.replace(CUT, "").trim();
  if (lengthOf(whole) <= ENOUGH) return whole;
  return cutter(whole)(0, ENOUGH).replace(/\s+\S*$/, "");
}
