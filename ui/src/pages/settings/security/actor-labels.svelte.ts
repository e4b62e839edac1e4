// Labels of the actors in the audit log: keys, devices, sessions, and people who write through channels.
import { moduleOrNull } from '../../../client/module';
import { m } from '../../../paraglide/messages.js';
import { short } from '../../../parts/time';
import { createHolders } from './holders';
import { createPeople } from './people';

/** Loads labels. `wanted` contains the kinds of actors whose labels need separate requests. */
export function createActorLabels(wanted: { people: () => boolean; sessions: () => boolean }) {
  const holders = createHolders();
  const people = createPeople(wanted.people);
  let names = $state.raw<typeof import('./device-name') | null>(null);
  const withSessions = $derived(wanted.sessions());
  $effect(() => {
    if (withSessions) void moduleOrNull(() => import('./device-name')).then((loaded) => (names = loaded));
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
    /** Labels by the ID of the session, key or device, or by the actor string of a person. */
    get all(): ReadonlyMap<string, string> {
      return all;
    },
  };
}
