// The live list: pages by cursor, kept true by events. It is no TanStack query because ten thousand rows are patched one by one, many times a
// second when a sender is busy, and a query would be asked for all its pages again.
import { rpc } from '../../client/rpc';
import { socket } from '../../client/socket';
import { ASKED_AGAIN_MS } from '../../state/live.svelte';
import { throttle } from '../../state/throttle';
import { join, merge, NO_FILTERS, rowOf, type Change, type Filters, type Row } from './rows';

const FIRST = 100;
const FURTHER = 500;

export class DeliveryList {
  rows = $state.raw<readonly Row[]>([]);
  /** What came while the person was reading further down. */
  fresh = $state.raw<readonly Row[]>([]);
  loading = $state(true);
  loadingMore = $state(false);
  error = $state.raw<unknown>(null);
  moreError = $state.raw<unknown>(null);
  #cursor = $state.raw<string | null>(null);
  /** Told by the list's own view: the first row is out of sight. */
  hold = false;
  #filters: Filters = NO_FILTERS;
  #asked = 0;
  #came: Change[] = [];
  /** What came while a page was asked for, whose answer may be older. */
  #meanwhile: Change[] = [];
  #frame = 0;

  get complete(): boolean {
    return this.#cursor === null;
  }

  /** Shows what these filters let through. */
  show(filters: Filters): void {
    this.#filters = filters;
    this.rows = [];
    this.fresh = [];
    void this.reload();
  }

  /** Asks for the newest rows again; those that are loaded further down stay. */
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

  /** Puts what waited into the list. */
  showFresh(): void {
    this.rows = merge(this.fresh, this.rows);
    this.fresh = [];
  }

  /** Follows what happens. Gives the function that ends it. */
  follow(): () => void {
    let wasLost = false;
    const again = throttle(() => void this.reload(), ASKED_AGAIN_MS);
    const ends = [
      socket.on('webhooks.delivery', (delivery) => {
        this.#came.push(delivery);
        this.#frame ||= requestAnimationFrame(() => this.#arrive());
        // A search also looks into the beginning of the body, which only the gateway knows.
        if (this.#filters.q) again();
      }),
      // Under load not each change is told.
      socket.on('records.changed', ({ what }) => what === 'deliveries' && again()),
      socket.watch((state) => {
        if (state === 'lost') wasLost = true;
        // What happened meanwhile was not told; and what HTTP refuses while the vault is sealed, the live line answers.
        else if (state === 'open' && (wasLost || this.error)) void this.reload();
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
    // Before the first page is there, nobody knows which rows stand between these.
    if (!this.loading || this.rows.length > 0) this.#join(came);
  }

  #join(came: readonly Change[]): void {
    const before = { rows: [...this.rows], fresh: [...this.fresh] };
    const after = join(before, came, { filters: this.#filters, hold: this.hold, complete: this.complete });
    this.rows = after.rows;
    this.fresh = after.fresh;
  }

  /** A page that has rows, or the end: a search may come back from a stretch where nothing matched. */
  async #page(cursor: string | null, limit: number): Promise<{ rows: Row[]; cursor: string | null }> {
    const { webhook, status, event, q } = this.#filters;
    const asked = this.#asked;
    for (;;) {
      const answer = await rpc('webhooks.deliveries', {
        id: webhook || null,
        status: status || null,
        event: event || null,
        q: q || null,
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
