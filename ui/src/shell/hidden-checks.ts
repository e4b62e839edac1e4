// Which failed health checks the user hid. They stay hidden in this window until they pass; others are shown.
import type { Result } from '../client/rpc';

const KEY = 'gatehouse.hidden_checks';

type Check = Pick<Result<'system.doctor'>['checks'][number], 'id' | 'subjects'>;

/** The failures: the checks, or the webhooks, channels and settings that they name. */
export function failuresOf(checks: readonly Check[]): string[] {
  return checks.flatMap(({ id, subjects = [] }) =>
    subjects.length === 0 ? [id] : subjects.map((subject) => `${id}/${subject.id}`),
  );
}

/** The checks with a failure that is not hidden. */
export function visibleChecks<C extends Check>(checks: readonly C[], hidden: readonly string[]): C[] {
  return checks.filter((check) => failuresOf([check]).some((failure) => !hidden.includes(failure)));
}

/** The hidden failures; empty if none are hidden. */
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
    // Storage is disabled. They are hidden until a reload.
  }
}
