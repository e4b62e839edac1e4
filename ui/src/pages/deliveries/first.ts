// Finds the first delivery in a list of pages. A page takes a limited time: it can be empty although others follow.

const MOST_PAGES = 5;

interface Page<D> {
  deliveries: readonly D[];
  next_cursor?: string | null;
}

/** The first delivery, on up to five pages. `ask` requests the page at a cursor. */
export async function firstOf<D>(ask: (cursor: string | null) => Promise<Page<D>>): Promise<D | null> {
  let cursor: string | null = null;
  for (let page = 0; page < MOST_PAGES; page++) {
    const listed: Page<D> = await ask(cursor);
    const [first] = listed.deliveries;
    if (first !== undefined) return first;
    cursor = listed.next_cursor ?? null;
    if (cursor === null) break;
  }
  return null;
}
