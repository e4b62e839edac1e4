// What a session is called and what can be done with it, the same in the list and at the head of the conversation.
import Link from '@lucide/svelte/icons/link';
import Pencil from '@lucide/svelte/icons/pencil';
import Trash from '@lucide/svelte/icons/trash-2';
import type { Result } from '../../client/rpc';
import { m } from '../../paraglide/messages.js';
import type { Item } from '../../parts/Menu.svelte';
import type { Named } from '../deliveries/names';
import type { Asked } from './SessionDialogs.svelte';

export type Session = Result<'sessions.get'>;

/** The delivery that a webhook's session was made for, where each has one of its own. */
export function deliveryOf({ key }: Session): string | null {
  const found = /^webhook:[^:]+:(del_[\w-]+)$/.exec(key);
  return found ? `/deliveries/${found[1]}` : null;
}

const OF_WEBHOOK = /^webhook:(wh_\w+)(?::(.*))?$/;

/** Whether nobody named it: a webhook's session is called by its key until somebody does. */
export const isUnnamed = ({ label }: Session): boolean => OF_WEBHOOK.test(label);

/** The session called by its webhook's name and what it is about, if nobody named it. */
export function called(session: Session, webhooks: readonly Named[] | undefined): Session {
  const [, id, about = ''] = OF_WEBHOOK.exec(session.label) ?? [];
  const name = webhooks?.find(({ public_id }) => public_id === id)?.name;
  if (!name) return session;
  const label = about === '' || about.startsWith('del_') ? name : m.chat_webhook_about({ name, about });
  return { ...session, label };
}

export const actionsFor = (session: Session, onask: (asked: Asked) => void): Item[] => [
  { label: m.chat_rename(), icon: Pencil, run: () => onask({ what: 'rename', session }) },
  { label: m.chat_share(), icon: Link, run: () => onask({ what: 'share', session }) },
  { label: m.chat_delete(), icon: Trash, danger: true, run: () => onask({ what: 'delete', session }) },
];
