// Turns that this window began and whose end no notification has announced.
export const awaited = new Set<string>();
