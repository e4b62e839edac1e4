// The steps of a delivery, for its timeline. Pure functions.
import type { Delivery } from './status';

export type StepId = 'received' | 'verified' | 'filtered' | 'duplicate' | 'queued' | 'worked' | 'sent' | 'ended';

export interface Step {
  id: StepId;
  /**
   * `open`: in progress or waiting. `todo`: not reached yet. `off`: skipped, because the webhook does not use the step.
   */
  state: 'done' | 'open' | 'failed' | 'todo' | 'off';
  at: string | null;
}

export interface Ways {
  /** Whether the webhook verifies its sender, or null if the webhook no longer exists. */
  verifies: boolean | null;
  /** Whether the payload goes to a channel without an agent. */
  forwards: boolean;
}

const step = (id: StepId, state: Step['state'], at: string | null | undefined = null): Step => ({
  id,
  state,
  at: at ?? null,
});

export function stepsOf(delivery: Delivery, { verifies, forwards }: Ways): Step[] {
  const { status, received_at: received } = delivery;
  const first = step('received', 'done', received);
  if (status === 'rejected') return [first, step('verified', 'failed', received)];
  const verified = step('verified', verifies === false ? 'off' : 'done', received);
  if (status === 'filtered') return [first, verified, step('filtered', 'off', received)];
  if (status === 'deduplicated') return [first, verified, step('duplicate', 'off', received)];

  const began = Boolean(delivery.started_at) || delivery.attempts > 0;
  const queued = step('queued', began ? 'done' : status === 'failed' ? 'failed' : 'open', received);
  const end = status === 'completed' ? 'done' : status === 'failed' ? 'failed' : began ? 'open' : 'todo';
  const steps = [first, verified, queued];
  const answered = delivery.outcome != null;
  if (!forwards) {
    const at = answered && delivery.target ? null : delivery.started_at;
    steps.push(step('worked', answered ? 'done' : end, at));
  }
  if (forwards || delivery.target) {
    const state = delivery.delivered_at ? 'done' : !forwards && !answered ? 'todo' : end;
    steps.push(step('sent', state, delivery.delivered_at));
  }
  if (delivery.finished_at) steps.push(step('ended', status === 'completed' ? 'done' : 'failed', delivery.finished_at));
  return steps;
}
