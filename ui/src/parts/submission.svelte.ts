// A form on its way to the gateway: whether it is under way, which field was refused and why, or what else went wrong. A refusal belongs to
// the control whose `name` is the field that the gateway names; it gets the focus.
import { tick } from 'svelte';
import { isFailure } from '../client/failure';
import { facts } from '../state/facts.svelte';

export class Submission {
  busy = $state(false);
  /** Why a field was refused, by its name. */
  refused = $state<Record<string, string>>({});
  /** What else went wrong; for `ErrorNote`. */
  failure = $state<unknown>(null);

  reset(): void {
    this.refused = {};
    this.failure = null;
  }

  /** Handles the submission of a form: `run` does it. */
  async send(event: SubmitEvent, run: () => Promise<void>): Promise<void> {
    event.preventDefault();
    if (this.busy) return;
    const form = event.currentTarget as HTMLFormElement;
    this.busy = true;
    this.reset();
    try {
      await run();
    } catch (error) {
      await this.refuse(error, form);
    } finally {
      this.busy = false;
    }
  }

  async refuse(error: unknown, form: HTMLFormElement): Promise<void> {
    // Before a person is inside there is no live connection that would tell.
    if (isFailure(error, 'VAULT_SEALED')) facts.vault_status = 'sealed';
    const field = isFailure(error, 'INVALID_PARAMS') ? (error.details.field ?? '') : '';
    if (isFailure(error) && form.elements.namedItem(field)) {
      this.refused = { [field]: sentence(error.details.reason ?? error.message) };
      await tick();
      form.querySelector<HTMLElement>('[aria-invalid]')?.focus();
    } else {
      this.failure = error;
    }
  }
}

/** The gateway's reasons are parts of a sentence. */
export function sentence(reason: string): string {
  const text = reason.charAt(0).toUpperCase() + reason.slice(1);
  return /[.!?)]$/.test(text) ? text : `${text}.`;
}
