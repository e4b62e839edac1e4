// The conditions of a payload filter as form state. Pure functions.
import type { Comparison, Condition } from '../../client/generated/rpc';
import { m } from '../../paraglide/messages.js';

/** A condition as it is typed. */
export interface ConditionDraft {
  path: string;
  is: Comparison;
  /** A number, true, false, null, a text in JSON quotation marks, or any other text. */
  value: string;
  /**
   * Whether the condition is an alternative to the previous condition. Always false for the first
   * condition.
   */
  or: boolean;
}

type Value = Exclude<Condition['value'], undefined>;

export const MAX_CONDITIONS = 20;

export const emptyCondition = (): ConditionDraft => ({ path: '', is: 'equals', value: '', or: false });

export const takesValue = (is: Comparison): boolean => is !== 'exists' && is !== 'missing';

/** Reads a typed value. Lists, objects and invalid JSON are read as text. */
export function valueOf(typed: string): Value {
  const text = typed.trim();
  try {
    const read: unknown = JSON.parse(text);
    if (read === null || typeof read === 'string' || typeof read === 'boolean') return read;
    if (typeof read === 'number' && Number.isFinite(read)) return read;
  } catch {
    // A text.
  }
  return text;
}

/**
 * Returns a value as the user would type it. A single-line field cannot show control characters.
 */
const textOf = (value: Value): string =>
  typeof value === 'string' && valueOf(value) === value && !/\p{Cc}/u.test(value) ? value : JSON.stringify(value);

/** Returns a path without the braces of a template that it may have been copied with. */
const pathOf = (typed: string): string => typed.trim().replace(/^\{(.*)\}$/, '$1');

export const filterConditions = (stored: readonly Condition[] | undefined): ConditionDraft[] =>
  (stored ?? []).map(({ path, is, value, or }) => ({
    path,
    is,
    value: takesValue(is) ? textOf(value ?? null) : '',
    or: or ?? false,
  }));

/** Returns the conditions as a request parameter, or null if there are none. */
export const payloadFilterOf = (typed: readonly ConditionDraft[]): Condition[] | null =>
  typed.length === 0
    ? null
    : typed.map(({ path, is, value, or }, at) => ({
        path: pathOf(path),
        is,
        ...(takesValue(is) && { value: valueOf(value) }),
        ...(or && at > 0 && { or }),
      }));

/** Removes a condition. Its first alternative takes its place. */
export const withoutCondition = (typed: readonly ConditionDraft[], at: number): ConditionDraft[] =>
  typed
    .map((one, index) => (index === at + 1 && one.or ? { ...one, or: typed[at]?.or ?? false } : one))
    .filter((_, index) => index !== at);

/** Errors by field, such as `payload_filter.0.path`. */
export function conditionErrors(typed: readonly ConditionDraft[]): Record<string, string> {
  const errors: Record<string, string> = {};
  for (const [at, { path, is, value }] of typed.entries()) {
    if (pathOf(path) === '') errors[`payload_filter.${at}.path`] = m.webhooks_error_condition_path();
    if (!takesValue(is)) continue;
    const field = `payload_filter.${at}.value`;
    const read = valueOf(value);
    if (value.trim() === '') errors[field] = m.webhooks_error_condition_value();
    else if (typeof read !== 'number') {
      if (is === 'greater' || is === 'less') errors[field] = m.webhooks_error_condition_number();
    } else if (Math.abs(read) > Number.MAX_SAFE_INTEGER) {
      // JavaScript rounds larger numbers, but the gateway compares whole numbers exactly.
      errors[field] = m.webhooks_error_condition_large();
    }
  }
  return errors;
}

/** Puts the gateway's reason for a refusal at the named field or at the whole filter. */
export function placedErrors(errors: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const { number, member, reason } =
    /^condition (?<number>\d+): (?<member>path|is|value): (?<reason>.+)$/s.exec(errors.payload_filter ?? '')?.groups ??
    {};
  if (!number || !member || !reason) return errors;
  const { payload_filter: _, ...others } = errors;
  return { ...others, [`payload_filter.${Number(number) - 1}.${member}`]: reason };
}
