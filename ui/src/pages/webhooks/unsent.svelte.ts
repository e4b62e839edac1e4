// A webhook that is not created yet. Kept in memory only, because it may contain a secret.
import type { Draft } from './draft';
import { FormSubmission } from './form-submission.svelte';

export const kept = $state<{
  draft: Draft | null;
  /** Name of the selected sender. */
  source: string;
  /** The time at which the request for the webhook was sent, if its answer was lost. */
  lost: number | null;
}>({ draft: null, source: '', lost: null });

/** The request that creates the webhook. It continues after the user leaves the page and must not be sent twice. */
export const creating = new FormSubmission();

export function forget(): void {
  kept.draft = null;
  kept.source = '';
  kept.lost = null;
}
