// How deliveries are told: the words for where one stands, and how many of late went wrong.
import type { Component } from 'svelte';
import Ban from '@lucide/svelte/icons/ban';
import CircleCheck from '@lucide/svelte/icons/circle-check';
import CircleX from '@lucide/svelte/icons/circle-x';
import Clock from '@lucide/svelte/icons/clock';
import Copy from '@lucide/svelte/icons/copy';
import Funnel from '@lucide/svelte/icons/funnel';
import Loader from '@lucide/svelte/icons/loader';
import type { DeliveryStats, DeliveryStatus } from '../../../client/generated/rpc';
import { m } from '../../../paraglide/messages.js';

export interface Look {
  label: () => string;
  kind: 'neutral' | 'good' | 'warning' | 'danger' | 'info';
  icon: Component<{ size?: number; 'aria-hidden'?: boolean | 'true' | 'false' }>;
}

export const LOOKS: Readonly<Record<DeliveryStatus, Look>> = {
  received: { label: m.webhooks_status_received, kind: 'info', icon: Clock },
  queued: { label: m.webhooks_status_queued, kind: 'info', icon: Clock },
  processing: { label: m.webhooks_status_processing, kind: 'info', icon: Loader },
  completed: { label: m.webhooks_status_completed, kind: 'good', icon: CircleCheck },
  failed: { label: m.webhooks_status_failed, kind: 'danger', icon: CircleX },
  rejected: { label: m.webhooks_status_rejected, kind: 'warning', icon: Ban },
  filtered: { label: m.webhooks_status_filtered, kind: 'neutral', icon: Funnel },
  deduplicated: { label: m.webhooks_status_deduplicated, kind: 'neutral', icon: Copy },
};

/** Whether nothing more becomes of a delivery. */
export const isOver = (status: DeliveryStatus): boolean => !['received', 'queued', 'processing'].includes(status);

/** Sums over the hours: all that came, and how much of what was worked on failed. */
export function totals(stats: DeliveryStats): { all: number; failed: number; rejected: number; rate: number | null } {
  const sum = (...names: DeliveryStatus[]) =>
    stats.buckets.reduce(
      (total, bucket) => total + names.reduce((count, name) => count + Number(bucket[name] ?? 0), 0),
      0,
    );
  const failed = sum('failed');
  const ended = failed + sum('completed');
  return {
    all: sum(...(Object.keys(LOOKS) as DeliveryStatus[])),
    failed,
    rejected: sum('rejected'),
    rate: ended === 0 ? null : failed / ended,
  };
}
