// A webhook that is not created yet. Kept in memory only, because it may contain a secret.
import type { Draft } from './draft';

export const kept = $state<{
  draft: Draft | null;
  /** Name of the selected sender. */
  source: string;
  /** When the request to create it was sent, if its answer was lost. */
  lost: number | null;
  /** Whether the request to create it is running. */
  busy: boolean;
}>({ draft: null, source: '', lost: null, busy: false });

export function forget(): void {
  kept.draft = null;
  kept.source = '';
  kept.lost = null;
}
