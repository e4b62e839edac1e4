// Which failed health checks the user hid. They stay hidden in this window until others fail.
const KEY = 'gatehouse.hidden_checks';

/** The IDs, separated by spaces; empty if none are hidden. */
export function hiddenChecks(): string {
  try {
    return sessionStorage.getItem(KEY) ?? '';
  } catch {
    return '';
  }
}

export function hideChecks(ids: string): void {
  try {
    sessionStorage.setItem(KEY, ids);
  } catch {
    // Storage is disabled. They are hidden until a reload.
  }
}
