// The failed health checks that the user hid. They stay hidden in this window until they pass. Other failed checks are
// shown.
import type { Result } from '../client/rpc';

const KEY = 'gatehouse.hidden_checks';

type Check = Pick<Result<'system.doctor'>['checks'][number], 'id' | 'subjects'>;

/**
 * Returns the failures, which are checks or the webhooks, channels and settings that the checks
 * name.
 */
export function failuresOf(checks: readonly Check[]): string[] {
  return checks.flatMap(({ id, subjects = [] }) =>
    subjects.length === 0 ? [id] : subjects.map((subject) => `${id}/${subject.id}`),
  );
}

/** Returns the checks with a failure that is not hidden. */
export function visibleChecks<C extends Check>(checks: readonly C[], hidden: readonly string[]): C[] {
  return checks.filter((check) => failuresOf([check]).some((failure) => !hidden.includes(failure)));
}

/** Returns the hidden failures. */
export function hiddenChecks(): string[] {
  try {
    return (sessionStorage.getItem(KEY) ?? '').split(' ').filter((failure) => failure !== '');
  } catch {
    return [];
  }
}

export function hideChecks(failures: readonly string[]): void {
  try {
    sessionStorage.setItem(KEY, failures.join(' '));
  } catch {
    // Storage is disabled, so the failures are hidden only until a reload.
  }
}
