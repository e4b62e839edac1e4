// The cache of answers. Unlike TanStack's cache, it also repeats a query whose first answer has not arrived.
import { QueryClient, type InvalidateOptions, type InvalidateQueryFilters } from '@tanstack/svelte-query';

export class Queries extends QueryClient {
  /**
   * Repeats the queries that match. TanStack's client ignores a query whose first answer has not arrived yet, although
   * that answer may be older than the change.
   */
  override async invalidateQueries(filters?: InvalidateQueryFilters, options?: InvalidateOptions): Promise<void> {
    const all = this.getQueryCache().findAll(filters);
    const begun = all.filter(({ state }) => state.fetchStatus === 'fetching' && state.data === undefined);
    await super.invalidateQueries(filters, options);
    if (begun.length > 0) await super.invalidateQueries({ predicate: (query) => begun.includes(query) }, options);
  }
}
