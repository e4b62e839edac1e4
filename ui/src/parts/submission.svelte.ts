// Something on its way to the gateway, a form or a press of a button: whether it is under way, which field was refused and why, or what else
// went wrong. A refusal belongs to the control whose `name` is the field that the gateway names; it gets the focus.
import { tick } from 'svelte';
import { Failure, isFailure, isFault } from '../client/failure';
import { m } from '../paraglide/messages.js';

export class Submission {
  busy = $state(false);
  /** Why a field was refused, by its name. */
  refused = $state<Record<string, string>>({});
  /** What else went wrong; for `ErrorNote`. */
  failure = $state<unknown>(null);

  /** What else went wrong, in words; for those that say it at a field. */
  get words(): string | null {
    if (this.failure === null) return null;
    return isFailure(this.failure) ? this.failure.message : m.parts_error_unknown();
  }

  reset(): void {
    this.refused = {};
    this.failure = null;
  }

  /** Does it, unless it is under way already. Whether it went well. */
  async run(work: () => Promise<unknown>, form?: HTMLFormElement): Promise<boolean> {
    if (this.busy) return false;
    this.busy = true;
    this.reset();
    try {
      await work();
      return true;
    } catch (error) {
      await this.refuse(error, form);
      return false;
    } finally {
      this.busy = false;
    }
  }

  /** Handles the submission of a form: `work` does it. */
  send(event: SubmitEvent, work: () => Promise<unknown>): Promise<boolean> {
    event.preventDefault();
    return this.run(work, event.currentTarget as HTMLFormElement);
  }

  async refuse(error: unknown, form?: HTMLFormElement): Promise<void> {
    // It is shown, and must not be silent.
    if (isFault(error)) reportError(error);
    const field = isFailure(error, 'INVALID_PARAMS') ? (error.details.field ?? '') : '';
    if (form && isFailure(error) && form.elements.namedItem(field)) {
      this.refused = { [field]: sentence(error.details.reason ?? error.message) };
      await tick();
      form.querySelector<HTMLElement>('[aria-invalid], [data-refused] input')?.focus();
    } else {
      this.failure = error;
    }
  }
}

/** What the page itself refuses, as the gateway would. */
export const refusal = (field: string, reason: string): Failure =>
  new Failure('INVALID_PARAMS', reason, { field, reason });

/** The gateway's reasons are parts of a sentence. */
export function sentence(reason: string): string {
  const text = reason.charAt(0).toUpperCase() + reason.slice(1);
  return /[.!?)]$/.test(text) ? text : `${text}.`;
}
