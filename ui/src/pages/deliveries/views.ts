// Filters of deliveries that the user saved under a name, as queries of the page's URL.

/** The parts of the URL that are filters. */
const PARTS = ['webhook', 'status', 'event', 'q', 'restored', 'time', 'from', 'until'];

/** The filters in a query of the URL, always in the same order. */
export function viewOf(query: string): string {
  const all = new URLSearchParams(query);
  const kept = PARTS.flatMap((name) => {
    const value = all.get(name);
    return value ? [[name, value]] : [];
  });
  return new URLSearchParams(kept).toString();
}
