// Tracks one action sent to the gateway, such as a form submission or a button press: whether it is running,
// and why it failed. A refusal that names a field is shown at the form control with that `name`, which gets
// the focus.
import { tick } from 'svelte';
import { Failure, isFailure, isFault } from '../client/failure';
import { m } from '../paraglide/messages.js';
import { toast } from '../state/toasts.svelte';

type Work = (stays: () => boolean) => Promise<unknown>;

/** Shows an error that arrives after its dialog was closed. */
function toastLate(error: unknown): void {
  if (isFault(error)) reportError(error);
  toast(isFailure(error) ? error.message : m.parts_error_unknown(), { kind: 'bad' });
}

export class Submission {
  busy = $state(false);
  /** Reasons for refused fields, by field name. */
  refused = $state<Record<string, string>>({});
  /** Any other error; for `ErrorNote`. */
  failure = $state<unknown>(null);
  /** The number of calls of `leave`. */
  #opening = 0;

  /** The other error as text, for components that show it at a field. */
  get words(): string | null {
    if (this.failure === null) return null;
    return isFailure(this.failure) ? this.failure.message : m.parts_error_unknown();
  }

  reset(): void {
    this.refused = {};
    this.failure = null;
  }

  /** Call it when the dialog of the form closes: the next opening starts afresh, and a late error becomes a toast. */
  leave(): void {
    this.#opening++;
    this.busy = false;
    this.reset();
  }

  /** Shows the error beside the page, because the dialog that sent the action is closed. */
  toastFailure(): void {
    if (this.words !== null) toast(this.words, { kind: 'bad' });
  }

  /**
   * Runs `work` and returns whether it succeeded; false at once if another call is running. `work` gets a function that
   * reports whether the dialog that sent the action is still open.
   */
  async run(work: Work, form?: HTMLFormElement): Promise<boolean> {
    if (this.busy) return false;
    const opening = this.#opening;
    const stays = () => opening === this.#opening;
    this.busy = true;
    this.reset();
    try {
      await work(stays);
      return true;
    } catch (error) {
      if (stays()) await this.refuse(error, form);
      else toastLate(error);
      return false;
    } finally {
      if (stays()) this.busy = false;
    }
  }

  /** Handles a form's submit event by running `work`. */
  send(event: SubmitEvent, work: Work): Promise<boolean> {
    event.preventDefault();
    return this.run(work, event.currentTarget as HTMLFormElement);
  }

  /** Shows what is wrong with fields, and focuses the first of them. */
  async show(refused: Record<string, string>, form: HTMLFormElement): Promise<void> {
    this.reset();
    this.refused = refused;
    await tick();
    form.querySelector<HTMLElement>('[aria-invalid], [data-refused] input')?.focus();
  }

  async refuse(error: unknown, form?: HTMLFormElement): Promise<void> {
    // The error is shown to the user, but bugs must also reach the console.
    if (isFault(error)) reportError(error);
    const field = isFailure(error, 'INVALID_PARAMS') ? (error.details.field ?? '') : '';
    if (form && isFailure(error) && form.elements.namedItem(field)) {
      await this.show({ [field]: sentence(error.details.reason ?? error.message) }, form);
    } else {
      this.failure = error;
    }
  }
}

/** A refusal by the web UI itself, in the shape of one from the gateway. */
export const refusal = (field: string, reason: string): Failure =>
  new Failure('INVALID_PARAMS', reason, { field, reason });

/** Makes a full sentence of a reason, which the gateway sends as a fragment. */
export function sentence(reason: string): string {
  const text = reason.charAt(0).toUpperCase() + reason.slice(1);
  return /[.!?)]$/.test(text) ? text : `${text}.`;
}
