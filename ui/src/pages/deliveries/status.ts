// Label and look of each status, and the groups in the timeline.
import Ban from '@lucide/svelte/icons/ban';
import CircleCheck from '@lucide/svelte/icons/circle-check';
import CircleX from '@lucide/svelte/icons/circle-x';
import CopyCheck from '@lucide/svelte/icons/copy-check';
import Funnel from '@lucide/svelte/icons/funnel';
import Hourglass from '@lucide/svelte/icons/hourglass';
import LoaderCircle from '@lucide/svelte/icons/loader-circle';
import ShieldX from '@lucide/svelte/icons/shield-x';
import type { Result } from '../../client/rpc';
import { m } from '../../paraglide/messages.js';
import type { LucideIcon } from '../../parts/icon';

export type Delivery = Result<'webhooks.delivery.get'>;
export type Status = Delivery['status'];

interface Looks {
  label: () => string;
  kind: 'neutral' | 'good' | 'warning' | 'danger' | 'info' | 'machine';
  icon: LucideIcon;
}

export const STATUS: Record<Status, Looks> = {
  received: { label: m.deliveries_status_received, kind: 'info', icon: Hourglass },
  queued: { label: m.deliveries_status_queued, kind: 'info', icon: Hourglass },
  processing: { label: m.deliveries_status_processing, kind: 'machine', icon: LoaderCircle },
  completed: { label: m.deliveries_status_completed, kind: 'good', icon: CircleCheck },
  failed: { label: m.deliveries_status_failed, kind: 'danger', icon: CircleX },
  rejected: { label: m.deliveries_status_rejected, kind: 'warning', icon: ShieldX },
  filtered: { label: m.deliveries_status_filtered, kind: 'neutral', icon: Funnel },
  deduplicated: { label: m.deliveries_status_deduplicated, kind: 'neutral', icon: CopyCheck },
};

/** A status that is unknown to this version of the web UI. */
const UNKNOWN: Looks = { label: m.deliveries_status_unknown, kind: 'neutral', icon: Ban };

export const looks = (status: Status): Looks => STATUS[status] ?? UNKNOWN;
export const STATUSES = Object.keys(STATUS) as Status[];

const WAITING: Status[] = ['received', 'queued', 'processing'];
/** Whether the status is final. */
export const isOver = (status: Status): boolean => !WAITING.includes(status);

/**
 * The statuses of deliveries whose payload is stored. Refused, filtered and duplicate deliveries have no stored
 * payload.
 */
export const WITH_PAYLOAD: Status[] = [...WAITING, 'completed', 'failed'];
export const hasPayload = (status: Status): boolean => WITH_PAYLOAD.includes(status);

export const isStatus = (text: string): text is Status => text in STATUS;

/** The groups of the timeline, from the bottom of a bar up. */
export const OUTCOMES = [
  { id: 'done', label: m.deliveries_outcome_done, statuses: ['completed'] },
  { id: 'waiting', label: m.deliveries_outcome_waiting, statuses: WAITING },
  { id: 'failed', label: m.deliveries_outcome_failed, statuses: ['failed'] },
  { id: 'refused', label: m.deliveries_outcome_refused, statuses: ['rejected'] },
  { id: 'skipped', label: m.deliveries_outcome_skipped, statuses: ['filtered', 'deduplicated'] },
] as const satisfies { id: string; label: () => string; statuses: Status[] }[];

export type OutcomeId = (typeof OUTCOMES)[number]['id'];
