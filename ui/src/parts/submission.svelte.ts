// Tracks one action sent to the gateway, such as a form submission or a button press. Stores whether it is running and
// why it failed. A refusal that names a field is shown at the form control with that `name`, which gets the focus.
import { tick } from 'svelte';
import { Failure, isFailure, isFault } from '../client/failure';
import { m } from '../paraglide/messages.js';
import { toast } from '../state/toasts.svelte';

type Work = (isShown: () => boolean) => Promise<unknown>;

export class Submission {
  busy = $state(false);
  /** Reasons for refused fields, by field name. */
  refused = $state<Record<string, string>>({});
  /** Any other error; for `ErrorNote`. */
  failure = $state<unknown>(null);
  /** The running action, if several buttons share the submission. */
  #action = $state('');
  readonly #other: (error: unknown) => string | null;
  readonly #name: () => string;
  /** The call whose outcome is shown. Null after `leave`. */
  #call: symbol | null = null;

  /**
   * `other` returns the text of an error that does not come from the gateway. `name` returns the name of the action's
   * record, for the toast of an error that arrives after the dialog was closed.
   */
  constructor(other: (error: unknown) => string | null = () => null, name: () => string = () => '') {
    this.#other = other;
    this.#name = name;
  }

  /** The error that belongs to no field, as text, for components that show it at a field. */
  get words(): string | null {
    return this.failure === null ? null : this.#wordsOf(this.failure);
  }

  /** Whether the action with this name, as passed to `run`, is running. */
  runs(action: string): boolean {
    return this.busy && this.#action === action;
  }

  reset(): void {
    this.refused = {};
    this.failure = null;
  }

  /**
   * Resets everything because the dialog was closed. A running call does not block or change the next opening of the
   * dialog. If the call fails, a toast shows the error.
   */
  leave(): void {
    this.#call = null;
    this.busy = false;
    this.reset();
  }

  /**
   * Runs `work` and returns whether it succeeded. Returns false immediately if another call is running. `work` may
   * close the dialog only while `isShown` returns true, because the dialog may later be open for another record. If
   * several buttons share the submission, `action` is the name of the pressed button, for `runs`.
   */
  async run(work: Work, form?: HTMLFormElement, action = ''): Promise<boolean> {
    if (this.busy) return false;
    const own = Symbol();
    // The dialog may be about another record when the answer arrives.
    const name = this.#name();
    this.#call = own;
    this.#action = action;
    const isShown = () => this.#call === own;
    this.busy = true;
    this.reset();
    try {
      await work(isShown);
      return true;
    } catch (error) {
      if (isShown()) await this.refuse(error, form);
      else this.#refuseLate(error, name);
      return false;
    } finally {
      if (isShown()) this.busy = false;
    }
  }

  /** Like `run`, for an action without an `ErrorNote`: a toast shows the error. */
  async runWithToast(work: Work, action = ''): Promise<boolean> {
    const isDone = await this.run(work, undefined, action);
    const { words } = this;
    this.reset();
    if (words !== null) toast(words, { kind: 'bad' });
    return isDone;
  }

  /** Handles a form's submit event by running `work`. */
  send(event: SubmitEvent, work: Work): Promise<boolean> {
    event.preventDefault();
    return this.run(work, event.currentTarget as HTMLFormElement);
  }

  /** Shows the errors of fields and focuses the first field with an error. */
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

  #refuseLate(error: unknown, name: string): void {
    if (isFault(error)) reportError(error);
    const text = this.#wordsOf(error);
    toast(name ? `${name}: ${text}` : text, { kind: 'bad' });
  }

  #wordsOf(error: unknown): string {
    return isFailure(error) ? error.message : (this.#other(error) ?? m.parts_error_unknown());
  }
}

/** The end of a reason that is a full sentence. */
const SENTENCE_END = /[.!?)]$/;

/**
 * Returns a refusal by the web UI, or of another field, in the format of the gateway's refusals.
 */
export function refusal(field: string, reason: string): Failure {
  // The gateway's reason is a fragment whose subject is the field.
  const message = SENTENCE_END.test(reason) ? reason : `Invalid \`${field}\`: ${reason}.`;
  return new Failure('INVALID_PARAMS', message, { field, reason });
}

/** Makes a full sentence of a reason that the gateway sends as a fragment. */
export function sentence(reason: string): string {
  const text = reason.charAt(0).toUpperCase() + reason.slice(1);
  return SENTENCE_END.test(text) ? text : `${text}.`;
}
