// Prompts and saved filters that an earlier version kept in the browser. They are moved to the
// gateway.
import type { QueryClient } from '@tanstack/svelte-query';
import { isFailure } from '../client/failure';
import { keys } from '../client/keys';
import { rpc, type Params } from '../client/rpc';
import { m } from '../paraglide/messages.js';
import { regional } from '../parts/region';
import type { Preference } from '../state/preferences';
import { KEPT } from '../state/session.svelte';
import { toast } from '../state/toasts.svelte';

type Key = (typeof KEPT)[number];
type Kind = Params<'preferences.set'>['kind'];

const KINDS: Record<Key, Kind> = { prompts: 'prompts', 'delivery filters': 'saved_filters' };

/** A stored entry of an earlier version. Prompts have a text, and filters have a query. */
interface Kept {
  name: string;
  text?: string;
  query?: string;
}

const valueOf = ({ text, query }: Kept): string => text ?? query ?? '';

const isKept = (value: unknown): value is Kept => {
  const { name, text, query } = (value ?? {}) as Record<string, unknown>;
  return typeof name === 'string' && typeof (text ?? query) === 'string';
};

function read(key: Key): Kept[] {
  try {
    const found: unknown = JSON.parse(localStorage.getItem(key) ?? '[]');
    return Array.isArray(found) ? found.filter(isKept) : [];
  } catch {
    // Storage is disabled, or another program wrote the value.
    return [];
  }
}

/**
 * Returns the name under which to store an entry, or `null` if the entry is already stored. Another entry may have its
 * name.
 */
export function freeName({ name, value }: Preference, stored: readonly Preference[]): string | null {
  const start = [...name].slice(0, 54).join('');
  for (let count = 1; ; count++) {
    const candidate = count === 1 ? name : `${start} (${count})`;
    const other = stored.find((one) => one.name === candidate);
    if (!other) return candidate;
    if (other.value === value) return null;
  }
}

/**
 * Removes a moved entry. Another window may have changed the other entries, and a logout may have
 * removed all.
 */
function remove(key: Key, moved: Kept): void {
  const left = read(key).filter((one) => one.name !== moved.name || valueOf(one) !== valueOf(moved));
  if (left.length > 0) localStorage.setItem(key, JSON.stringify(left));
  else localStorage.removeItem(key);
}

/**
 * Moves the entries of a key. Returns the entries that the gateway refuses, which stay in the
 * browser.
 */
async function move(key: Key, stored: readonly Preference[]): Promise<Kept[]> {
  const kind = KINDS[key];
  const known = [...stored];
  const refused: Kept[] = [];
  for (const one of read(key)) {
    const value = valueOf(one);
    const name = freeName({ name: one.name, value }, known);
    try {
      if (name !== null) {
        await rpc('preferences.set', { kind, name, value });
        known.push({ name, value });
      }
      remove(key, one);
    } catch (error) {
      if (!isFailure(error, 'INVALID_PARAMS', 'CONFLICT', 'PAYLOAD_TOO_LARGE')) throw error;
      refused.push(one);
    }
  }
  // A value that another program wrote has no entries.
  if (read(key).length === 0) localStorage.removeItem(key);
  return refused;
}

/** Moves everything. After a failed call, the remaining entries are moved at the next load of the page. */
export async function moveKept(queries: QueryClient): Promise<void> {
  try {
    const stored = await rpc('preferences.get');
    const refused: Kept[] = [];
    for (const key of KEPT) refused.push(...(await move(key, stored[KINDS[key]])));
    if (refused.length === 0) return;
    const names = new Intl.ListFormat(regional()).format(refused.map(({ name }) => name));
    toast(m.shell_kept_refused({ names }), { kind: 'bad' });
  } catch (error) {
    if (!isFailure(error)) throw error;
  } finally {
    // Calls over HTTP cause no event.
    await queries.invalidateQueries({ queryKey: keys.preferences });
  }
}
