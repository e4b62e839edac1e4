// What went wrong with a call, whichever way it went. `code` is one of the gateway's closed list (docs/generated/error-codes.md), or one of
// three of the page's own: OFFLINE (nothing answered), LOST (the connection broke before the answer) and TIMED_OUT (no answer in time).
import { m } from '../paraglide/messages.js';

/** What the gateway says besides the code and the sentence. */
export interface Details {
  field?: string;
  reason?: string;
  retry_after_seconds?: number;
  required_scope?: string;
  max_bytes?: number;
  max_age_seconds?: number;
  request_id?: string;
  what?: string;
  provider?: string;
  status?: number | string;
}

export class Failure extends Error {
  override name = 'Failure';
  readonly code: string;
  readonly details: Details;

  constructor(code: string, message: string, details: Details = {}) {
    super(message);
    this.code = code;
    this.details = details;
  }
}

/** Whether `error` is a failure with one of these codes. */
export const isFailure = (error: unknown, ...codes: string[]): error is Failure =>
  error instanceof Failure && (codes.length === 0 || codes.includes(error.code));

/** Whether what was asked may have been done all the same: no answer came. */
export const isUnheard = (error: unknown): boolean => isFailure(error, 'OFFLINE', 'LOST', 'TIMED_OUT');

/** Whether it is neither a refusal of the gateway nor one of the browser, but a fault of this page. */
export const isFault = (error: unknown): boolean =>
  error instanceof TypeError || error instanceof ReferenceError || error instanceof RangeError;

/** A JSON-RPC error as a `Failure`. */
export function failureOf(error: { message: string; data?: { code: string } & Details }): Failure {
  const { code = 'INTERNAL', ...details } = error.data ?? {};
  return new Failure(code, error.message, details);
}

/** Nothing answered. */
export const offline = (): Failure => new Failure('OFFLINE', m.client_offline());

/** Something else than the gateway answered, such as a proxy in front of it. */
export const notTheGateway = (status: number): Failure => new Failure('OFFLINE', m.client_not_the_gateway({ status }));

export const lost = (): Failure => new Failure('LOST', m.client_lost());
export const timedOut = (): Failure => new Failure('TIMED_OUT', m.client_timed_out());
