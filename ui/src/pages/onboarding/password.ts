// What the gateway asks of a password (docs/API.md counts Unicode scalar values).

export const MIN = 12;
export const MAX = 1024;

export const lengthOf = (text: string): number => [...text].length;

/** Whether both fields hold one password that the gateway takes. */
export function isReady(password: string, repeated: string): boolean {
  const length = lengthOf(password);
  return length >= MIN && length <= MAX && password === repeated;
}
