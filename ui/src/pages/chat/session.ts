// Names and actions of a session, shared by the list and the header of the conversation.
import Archive from '@lucide/svelte/icons/archive';
import ArchiveRestore from '@lucide/svelte/icons/archive-restore';
import Download from '@lucide/svelte/icons/download';
import Link from '@lucide/svelte/icons/link';
import Pencil from '@lucide/svelte/icons/pencil';
import Pin from '@lucide/svelte/icons/pin';
import PinOff from '@lucide/svelte/icons/pin-off';
import Tags from '@lucide/svelte/icons/tags';
import ShieldCheck from '@lucide/svelte/icons/shield-check';
import Trash from '@lucide/svelte/icons/trash-2';
import type { Result } from '../../client/rpc';
import { m } from '../../paraglide/messages.js';
import type { Item } from '../../parts/Menu.svelte';
import { subjectOf } from '../deliveries/subject';
import { deliverySentenceOf } from '../../phrases/delivery-sentence.svelte';
import type { Asked } from './SessionDialogs.svelte';

export type Session = Result<'sessions.get'>;

/**
 * Returns the path of the delivery for which a webhook session was created, if the session belongs
 * to a single delivery.
 */
export function deliveryOf({ key }: Session): string | null {
  const found = /^webhook:[^:]+:(del_[\w-]+)$/.exec(key);
  return found ? `/deliveries/${found[1]}` : null;
}

/** The list that a session is in. */
export const listOf = ({ archived, source }: Pick<Session, 'archived' | 'source'>) =>
  archived ? 'archived' : source === 'webhook' ? 'webhooks' : 'people';

/** The label that the gateway gives to a session before its first message. */
const NEW_LABEL = 'New session';

/** Display name: the label, or the subject for a webhook session whose label is still its key. */
export function nameOf({ key, label }: Pick<Session, 'key' | 'label'>): string {
  if (label === NEW_LABEL) return m.chat_new();
  const [, webhook] = /^webhook:([^:]+)/.exec(key) ?? [];
  if (!webhook) return label;
  // The label of a webhook's session is the sentence of its delivery until a person renames the
  // session.
  if (label !== key) return deliverySentenceOf(label, webhook, true);
  const about = key.split(':').slice(2).join(':');
  return !about || about.startsWith('del_') ? m.chat_from_webhook() : subjectOf(about);
}

export const actionsFor = (session: Session, onask: (asked: Asked) => void): Item[] => [
  session.pinned
    ? { label: m.chat_unpin(), icon: PinOff, run: () => onask({ what: 'unpin', session }) }
    : { label: m.chat_pin(), icon: Pin, run: () => onask({ what: 'pin', session }) },
  { label: m.chat_rename(), icon: Pencil, run: () => onask({ what: 'rename', session }) },
  { label: m.chat_tags(), icon: Tags, run: () => onask({ what: 'tags', session }) },
  { label: m.chat_share(), icon: Link, run: () => onask({ what: 'share', session }) },
  session.archived
    ? { label: m.chat_unarchive(), icon: ArchiveRestore, run: () => onask({ what: 'unarchive', session }) }
    : { label: m.chat_archive(), icon: Archive, run: () => onask({ what: 'archive', session }) },
  { label: m.chat_export(), icon: Download, run: () => onask({ what: 'export', session }) },
  ...(session.tainted
    ? [{ label: m.chat_trust(), icon: ShieldCheck, run: () => onask({ what: 'trust', session }) }]
    : []),
  { label: m.chat_delete(), icon: Trash, danger: true, run: () => onask({ what: 'delete', session }) },
];

/** The tags in a text that separates them by commas. */
export const tagsIn = (text: string): string[] =>
  text
    .split(',')
    .map((tag) => tag.trim())
    .filter((tag) => tag !== '');

/** Returns whether two spellings are the same tag. Upper and lower case are equal. */
export const isSameTag = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase();
