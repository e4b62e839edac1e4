// The people who write through channels, by their names in the audit log: `channel ACCOUNT person ID`.
import { createQuery } from '@tanstack/svelte-query';
import { keys } from '../../../client/keys';
import { allChannels, allPeople } from '../../../client/lists';
import { m } from '../../../paraglide/messages.js';

async function labels(): Promise<Map<string, string>> {
  const [people, channels] = await Promise.all([allPeople.queryFn(), allChannels.queryFn()]);
  const names = new Map(channels.map(({ id, label }) => [id, label]));
  return new Map(
    people.map(({ account, person, name }) => [
      `channel ${account} person ${person}`,
      m.audit_actor_person({ name, channel: names.get(account) ?? account }),
    ]),
  );
}

/** Loads the people. `wanted` returns whether the name of a person is needed. */
export function createPeople(wanted: () => boolean) {
  const people = createQuery(() => ({
    queryKey: [...keys.channels, 'people', 'labels'],
    queryFn: labels,
    enabled: wanted(),
    staleTime: 60_000,
  }));
  return {
    get labels(): ReadonlyMap<string, string> {
      return people.data ?? new Map();
    },
  };
}
