// What a session is called and what can be done with it, the same in the list and at the head of the conversation.
import Link from '@lucide/svelte/icons/link';
import Pencil from '@lucide/svelte/icons/pencil';
import Trash from '@lucide/svelte/icons/trash-2';
import type { Result } from '../../client/rpc';
import { m } from '../../paraglide/messages.js';
import type { Item } from '../../parts/Menu.svelte';
import { subjectOf } from '../deliveries/subject';
import type { Asked } from './SessionDialogs.svelte';

export type Session = Result<'sessions.get'>;

/** The delivery that a webhook's session was made for, where each has one of its own. */
export function deliveryOf({ key }: Session): string | null {
  const found = /^webhook:[^:]+:(del_[\w-]+)$/.exec(key);
  return found ? `/deliveries/${found[1]}` : null;
}

/** What people call it. A webhook's session that nobody named has its key as its name: said as what it is about. */
export function nameOf({ key, label }: Session): string {
  if (label !== key || !key.startsWith('webhook:')) return label;
  const about = key.split(':').slice(2).join(':');
  if (!about) return m.chat_from_webhook();
  return about.startsWith('del_') ? m.chat_of_delivery({ id: about.slice(-4) }) : subjectOf(about);
}

export const actionsFor = (session: Session, onask: (asked: Asked) => void): Item[] => [
  { label: m.chat_rename(), icon: Pencil, run: () => onask({ what: 'rename', session }) },
  { label: m.chat_share(), icon: Link, run: () => onask({ what: 'share', session }) },
  { label: m.chat_delete(), icon: Trash, danger: true, run: () => onask({ what: 'delete', session }) },
];
