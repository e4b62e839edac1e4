// A webhook that is being written and not made yet. In memory only: there may be a secret in it.
import type { Draft } from './draft';

export const kept = $state<{
  draft: Draft | null;
  /** The name of the card that was chosen. */
  source: string;
  /** When a creation was asked for whose answer was lost. */
  lost: number | null;
}>({ draft: null, source: '', lost: null });

export function forget(): void {
  kept.draft = null;
  kept.source = '';
  kept.lost = null;
}
