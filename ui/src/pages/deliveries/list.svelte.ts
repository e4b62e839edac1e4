// The live list of deliveries: cursor pages that events update. It is not a TanStack query. A busy sender causes many
// single-row updates per second in up to 10,000 rows, and invalidating a query would fetch all its pages again.
import { rpc } from '../../client/rpc';
import { socket } from '../../client/socket';
import { ASKED_AGAIN_MS } from '../../state/live.svelte';
import { throttle } from '../../state/throttle';
import { periodOf } from '../../parts/period';
import { join, merge, NO_FILTERS, rowOf, type Change, type Filters, type Row } from './rows';

const FIRST = 100;
const FURTHER = 500;

export class DeliveryList {
  /**
   * The filters of the current rows. They change later than the filters in the URL, together with
   * `loading`.
   */
  filters = $state.raw<Filters>(NO_FILTERS);
  rows = $state.raw<readonly Row[]>([]);
  /** New rows that arrived while the user was scrolled down. */
  fresh = $state.raw<readonly Row[]>([]);
  loading = $state(true);
  loadingMore = $state(false);
  error = $state.raw<unknown>(null);
  moreError = $state.raw<unknown>(null);
  #cursor = $state.raw<string | null>(null);
  /** Whether the first row is out of view. The list component sets it. */
  hold = false;
  #asked = 0;
  #came: Change[] = [];
  /**
   * Changes that were received during a page request. The answer may be older than these changes.
   */
  #meanwhile: Change[] = [];
  #frame = 0;

  get complete(): boolean {
    return this.#cursor === null;
  }

  /** Replaces the filters and reloads the list. */
  show(filters: Filters): void {
    this.filters = filters;
    this.rows = [];
    this.fresh = [];
    void this.reload();
  }

  /** Fetches the newest rows again and keeps rows that were loaded further down. */
  async reload(): Promise<void> {
    const asked = ++this.#asked;
    this.error = null;
    this.moreError = null;
    this.loading = true;
    this.loadingMore = false;
    this.#meanwhile = [];
    try {
      const limit = Math.min(FURTHER, Math.max(FIRST, this.rows.length));
      const { rows, cursor } = await this.#page(null, limit);
      if (asked !== this.#asked) return;
      const known = [...this.fresh, ...this.rows];
      const oldest = rows.at(-1)?.id;
      const overlaps = oldest !== undefined && this.rows.some((row) => row.id >= oldest);
      if (overlaps && cursor !== null) {
        this.rows = merge(
          rows,
          known.filter((row) => row.id < oldest),
        );
        if (this.rows.length === rows.length) this.#cursor = cursor;
      } else {
        this.rows = rows;
        this.#cursor = cursor;
      }
      this.fresh = [];
      this.#join(this.#meanwhile);
    } catch (error) {
      if (asked === this.#asked) this.error = error;
    } finally {
      if (asked === this.#asked) this.loading = false;
    }
  }

  /** Loads the next page. */
  async more(): Promise<void> {
    if (this.loading || this.loadingMore || this.#cursor === null || this.moreError) return;
    const asked = this.#asked;
    this.#meanwhile = [];
    this.loadingMore = true;
    try {
      const { rows, cursor } = await this.#page(this.#cursor, FURTHER);
      if (asked !== this.#asked) return;
      this.rows = merge(this.rows, rows);
      this.#cursor = cursor;
      this.#join(this.#meanwhile);
    } catch (error) {
      if (asked === this.#asked) this.moreError = error;
    } finally {
      if (asked === this.#asked) this.loadingMore = false;
    }
  }

  retryMore(): void {
    this.moreError = null;
    void this.more();
  }

  /** Moves the new rows into the list. */
  showFresh(): void {
    this.rows = merge(this.fresh, this.rows);
    this.fresh = [];
  }

  /** Subscribes to live changes. Returns a function that unsubscribes. */
  follow(): () => void {
    const again = throttle(() => void this.reload(), ASKED_AGAIN_MS);
    const ends = [
      socket.on('webhooks.delivery', (delivery) => {
        this.#came.push(delivery);
        this.#frame ||= requestAnimationFrame(() => this.#arrive());
        // A search also covers the start of the body, which events do not contain.
        if (this.filters.q) again();
      }),
      // Under load, the gateway sends this event instead of one event per delivery.
      socket.on('records.changed', ({ what }) => what === 'deliveries' && again()),
      socket.watch((state) => {
        // Events before the connection was opened were missed. Over HTTP, the gateway may also have refused the list
        // because the vault is sealed. Over the socket, it does not refuse the list.
        if (state === 'open') void this.reload();
      }),
    ];
    return () => {
      cancelAnimationFrame(this.#frame);
      again.cancel();
      for (const end of ends) end();
    };
  }

  #arrive(): void {
    this.#frame = 0;
    const came = this.#came.splice(0);
    if (this.loading || this.loadingMore) this.#meanwhile.push(...came);
    // Until the first page is loaded, there may be unknown rows between these rows.
    if (!this.loading || this.rows.length > 0) this.#join(came);
  }

  #join(came: readonly Change[]): void {
    const before = { rows: [...this.rows], fresh: [...this.fresh] };
    const after = join(before, came, { filters: this.filters, hold: this.hold, complete: this.complete });
    this.rows = after.rows;
    this.fresh = after.fresh;
  }

  /** Fetches pages until one has rows or the list ends, because a page may be empty. */
  async #page(cursor: string | null, limit: number): Promise<{ rows: Row[]; cursor: string | null }> {
    const { webhook, statuses, event, q, restored } = this.filters;
    const period = periodOf(this.filters, Date.now());
    const asked = this.#asked;
    for (;;) {
      const answer = await rpc('webhooks.deliveries', {
        id: webhook || null,
        ...(statuses.length > 0 ? { statuses: [...statuses] } : {}),
        ...period,
        event: event || null,
        q: q || null,
        ...(restored ? { to_release: true } : {}),
        limit,
        cursor,
      });
      cursor = answer.next_cursor ?? null;
      if (answer.deliveries.length > 0 || cursor === null || asked !== this.#asked) {
        return { rows: answer.deliveries.map(rowOf), cursor };
      }
    }
  }
}
