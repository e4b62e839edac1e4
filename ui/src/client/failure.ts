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
  /** Of `channels.delete`: how many deliveries wait for the channel, how many webhooks send to it, and some of these. */
  deliveries?: number;
  webhooks?: number;
  used_by?: { id: string; name: string }[];
  /** Of `approval.find`: how the call of a link ended, when, and how it was answered. */
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
 * Waits for a deletion. If the record is already gone, for example because another window deleted it or an earlier
 * answer was lost, the deletion counts as done.
 */
export async function deleted(work: Promise<unknown>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!isFailure(error, 'NOT_FOUND')) throw error;
  }
}

/** Whether no answer arrived, so the request may have taken effect anyway. */
export const isUnheard = (error: unknown): boolean => isFailure(error, 'OFFLINE', 'LOST', 'TIMED_OUT');

/** Whether the error is a bug in the web UI rather than an error of the gateway or the browser. */
export const isFault = (error: unknown): boolean =>
  error instanceof TypeError || error instanceof ReferenceError || error instanceof RangeError;

/** Converts a JSON-RPC error. */
export function failureOf(error: { message: string; data?: { code: string } & Details }): Failure {
  const { code = 'INTERNAL', ...details } = error.data ?? {};
  return new Failure(code, error.message, details);
}

/** There was no answer. */
export const offline = (): Failure => new Failure('OFFLINE', m.client_offline());

/** Something other than the gateway answered, such as a proxy in front of it. */
export const notTheGateway = (status: number): Failure => new Failure('OFFLINE', m.client_not_the_gateway({ status }));

export const lost = (): Failure => new Failure('LOST', m.client_lost());
export const timedOut = (): Failure => new Failure('TIMED_OUT', m.client_timed_out());
