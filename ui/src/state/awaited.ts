// Turns that this window began and whose end was not announced by a notification.
export const awaited = new Set<string>();
