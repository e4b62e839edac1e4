// Labels of the actors in the audit log: of keys and devices, sessions, and people who write through channels.
import { onMount } from 'svelte';
import { moduleOrNull } from '../../../client/module';
import { m } from '../../../paraglide/messages.js';
import { short } from '../../../parts/time';
import { createHolders } from './holders';
import { createPeople } from './people';

/** `withPeople`: whether people are to be named. */
export function createActorLabels(withPeople: () => boolean) {
  const holders = createHolders();
  const people = createPeople(withPeople);
  let names = $state.raw<typeof import('./device-name') | null>(null);
  onMount(async () => {
    names = await moduleOrNull(() => import('./device-name'));
  });
  const sessions = $derived(
    holders.sessions.map(({ id, user_agent, created_at }) => {
      const device = names?.deviceName(user_agent ?? '') ?? m.security_device_unknown();
      return [id, m.audit_session_label({ device, when: short(created_at) })] as const;
    }),
  );
  const all = $derived(
    new Map<string, string>([
      ...people.labels,
      ...sessions,
      ...[...holders.keys, ...holders.devices].map(({ id, label }) => [id, label] as const),
    ]),
  );
  return {
    holders,
    people,
    /** By the ID of the session, key or device, or by the actor that is a person. */
    get all(): ReadonlyMap<string, string> {
      return all;
    },
  };
}
