// Texts for the actors of audit events.
import { m } from '../../../paraglide/messages.js';

/**
 * The number of characters that are shown from the ID of an ended session. The end of an ID is
 * random.
 */
const SHOWN_OF_ID = 6;

/**
 * Returns the actor as text. `labels` contains the labels of sessions, keys and devices by ID, and of people by their
 * names in the log.
 */
export function actorInWords(actor: string, own: string | undefined, labels: ReadonlyMap<string, string>): string {
  const [kind = '', id = '', , person] = actor.split(' ');
  if (kind === 'session' && id === own) return m.audit_actor_you();
  if (kind === 'session') return m.audit_actor_session({ label: labels.get(id) ?? `…${id.slice(-SHOWN_OF_ID)}` });
  if (kind === 'api_key') return m.audit_actor_api_key({ label: labels.get(id) ?? id });
  if (kind === 'device') return m.audit_actor_device({ label: labels.get(id) ?? id });
  if (kind === 'channel' && person) return labels.get(actor) ?? m.audit_actor_person({ name: person, channel: id });
  if (kind === 'channel') return m.audit_actor_channel({ channel: id });
  const plain: Record<string, () => string> = {
    loopback: m.audit_actor_loopback,
    password: m.audit_actor_password,
    anonymous: m.audit_actor_anonymous,
    cli: m.audit_actor_cli,
    system: m.audit_actor_system,
  };
  return plain[kind]?.() ?? actor;
}
