// Unsent messages. They survive a reload of the page, because they are in the storage of the browser tab. They end with
// the tab.
const keyOf = (session: string | null): string => `draft ${session ?? 'new'}`;

export function draftOf(session: string | null): string {
  try {
    return sessionStorage.getItem(keyOf(session)) ?? '';
  } catch {
    // Storage may be disabled. A draft then lasts as long as the page.
    return '';
  }
}

export function keepDraft(session: string | null, text: string): void {
  try {
    if (text === '') sessionStorage.removeItem(keyOf(session));
    else sessionStorage.setItem(keyOf(session), text);
  } catch {
    // The storage is disabled or full.
  }
}
