import { LIST_LIMIT_MAX } from './generated/limits';

/** Fetches all pages of a paginated list in sequence. */
export async function everyPage<Page extends { next_cursor?: string | null }>(
  ask: (at: { limit: number; cursor: string | null }) => Promise<Page>,
): Promise<Page[]> {
  const pages: Page[] = [];
  let cursor: string | null = null;
  do {
    const page: Page = await ask({ limit: LIST_LIMIT_MAX, cursor });
    pages.push(page);
    cursor = page.next_cursor ?? null;
  } while (cursor !== null);
  return pages;
}
