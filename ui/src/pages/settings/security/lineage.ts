// Which credential created which API key, device or passkey. `made_by` uses the actors of the audit log: `session ID`,
// `api_key ID`, `device ID`.
import { m } from '../../../paraglide/messages.js';

export interface Holder {
  id: string;
  label: string;
  made_by?: string | null;
}

export interface Holders {
  keys: readonly Holder[];
  devices: readonly Holder[];
  passkeys?: readonly Holder[];
  sessions?: readonly Omit<Holder, 'label'>[];
}

/**
 * Returns all keys, devices and passkeys that the makers created, directly or indirectly. `stays` is the ID of a
 * session that does not end with its creator.
 */
export function descendants(
  makers: readonly string[],
  { keys, devices, passkeys = [], sessions = [] }: Holders,
  stays?: string,
): Holder[] {
  const all = [
    ...keys.map((holder) => ({ holder, maker: `api_key ${holder.id}` })),
    ...devices.map((holder) => ({ holder, maker: `device ${holder.id}` })),
    ...passkeys.map((holder) => ({ holder, maker: `passkey ${holder.id}` })),
    ...sessions
      .filter(({ id }) => id !== stays)
      .map((session) => ({ holder: { ...session, label: '' }, maker: `session ${session.id}` })),
  ];
  const found = new Map<string, Holder>();
  const open = [...makers];
  for (let maker = open.pop(); maker !== undefined; maker = open.pop()) {
    for (const one of all) {
      if (one.holder.made_by !== maker || found.has(one.maker)) continue;
      found.set(one.maker, one.holder);
      open.push(one.maker);
    }
  }
  return [...found].filter(([maker]) => !maker.startsWith('session ')).map(([, holder]) => holder);
}

/** Returns a function that formats "Created … by …". `own` is the ID of the user's current session. */
export function createdBy(maker: string | null | undefined, holders: Holders, own: string | undefined) {
  const [kind, id = ''] = (maker ?? '').split(' ');
  const label = (list: readonly Holder[]) => list.find((holder) => holder.id === id)?.label ?? id;
  return (when: string): string => {
    if (kind === 'api_key') return m.security_created_by_key({ when, label: label(holders.keys) });
    if (kind === 'device') return m.security_created_by_device({ when, label: label(holders.devices) });
    if (kind === 'cli') return m.security_created_by_cli({ when });
    if (kind === 'loopback') return m.security_created_by_loopback({ when });
    if (kind !== 'session') return m.security_created({ when });
    return id === own ? m.security_created_here({ when }) : m.security_created_by_session({ when });
  };
}
