import type { Page } from "./api";

const LIMIT = 100;

/** All items of a list that the API gives out a hundred at a time; `most` keeps an enormous one from taking for ever. */
export async function everyPage<Item>(ask: (page: number, limit: number) => Promise<Page<Item>>, most = 5_000): Promise<Item[]> {
  const items: Item[] = [];
  for (let page = 1; ; page += 1) {
    const answer = await ask(page, LIMIT);
    items.push(...answer.items);
    if (answer.items.length < LIMIT || items.length >= Math.min(answer.total, most)) return items;
  }
}
