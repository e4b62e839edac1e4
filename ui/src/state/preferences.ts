// Saved filters and prompts. The gateway stores them.
import type { QueryClient } from '@tanstack/svelte-query';
import { deleted } from '../client/failure';
import { keys } from '../client/keys';
import { rpc, type Params, type Result } from '../client/rpc';

export type Preference = Result<'preferences.get'>['prompts'][number];

const byName = (a: Preference, b: Preference) => a.name.localeCompare(b.name);

/** Returns the query options for preferences, with each kind sorted by name. */
export const preferences = () => ({
  queryKey: keys.preferences,
  queryFn: async () => {
    const { saved_filters, prompts } = await rpc('preferences.get');
    return { saved_filters: saved_filters.toSorted(byName), prompts: prompts.toSorted(byName) };
  },
});

/** Saves an entry in place of one with the same name. */
export async function savePreference(queries: QueryClient, entry: Params<'preferences.set'>): Promise<void> {
  await rpc('preferences.set', entry);
  await queries.invalidateQueries({ queryKey: keys.preferences });
}

/** Deletes an entry, which may have been deleted elsewhere. */
export async function deletePreference(queries: QueryClient, entry: Params<'preferences.delete'>): Promise<void> {
  await deleted(rpc('preferences.delete', entry));
  await queries.invalidateQueries({ queryKey: keys.preferences });
}
