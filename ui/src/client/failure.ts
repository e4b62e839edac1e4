// Errors of gateway calls. `code` is one of the gateway's error codes (docs/generated/error-codes.md) or one
// of 4 that the web UI adds: OFFLINE (no connection), LOST (the connection broke before the answer), TIMED_OUT
// and INCOMPLETE (some of several calls failed).
import { m } from '../paraglide/messages.js';
import { translated } from './translated';
import { inWords } from './wording';

/** The gateway's error details besides code and message. */
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
  /**
   * For `channels.delete`: the number of deliveries that wait for the channel, the number of webhooks that send to it,
   * and some of these webhooks.
   */
  deliveries?: number;
  webhooks?: number;
  used_by?: { id: string; name: string }[];
  /**
   * For `approval.find`: how and when the call of a link ended, and through what it was answered.
   */
  ended?: 'allowed' | 'denied' | 'expired';
  at?: string;
  through?: 'link' | 'chat' | 'api';
}

export class Failure extends Error {
  override name = 'Failure';
  readonly code: string;
  readonly details: Details;

  constructor(code: string, message: string, details: Details = {}) {
    super(translated(code, inWords(message, details), details.retry_after_seconds));
    this.code = code;
    this.details = details;
  }
}

/** Whether `error` is a `Failure`, with one of `codes` if any are given. */
export const isFailure = (error: unknown, ...codes: string[]): error is Failure =>
  error instanceof Failure && (codes.length === 0 || codes.includes(error.code));

/**
 * Waits for a deletion. The deletion also counts as done if the record no longer exists, for example because another
 * window deleted it or an earlier answer was lost.
 */
export async function deleted(work: Promise<unknown>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!isFailure(error, 'NOT_FOUND')) throw error;
  }
}

/** Returns whether no answer arrived. The request may have taken effect. */
export const isUnheard = (error: unknown): boolean => isFailure(error, 'OFFLINE', 'LOST', 'TIMED_OUT');

/** Returns whether the error is a bug in the web UI, not an error of the gateway or the browser. */
export const isFault = (error: unknown): boolean =>
  error instanceof TypeError || error instanceof ReferenceError || error instanceof RangeError;

/** Converts a JSON-RPC error. */
export function failureOf(error: { message: string; data?: { code: string } & Details }): Failure {
  const { code = 'INTERNAL', ...details } = error.data ?? {};
  return new Failure(code, error.message, details);
}

/** There was no answer. */
export const offline = (): Failure => new Failure('OFFLINE', m.client_offline());

/**
 * Returns the failure for a response that does not come from the gateway but, for example, from a
 * proxy in front of it.
 */
export const notTheGateway = (status: number): Failure => new Failure('OFFLINE', m.client_not_the_gateway({ status }));

export const lost = (): Failure => new Failure('LOST', m.client_lost());
export const timedOut = (): Failure => new Failure('TIMED_OUT', m.client_timed_out());
