import { rpc } from '../../client/rpc';

/** Whether the setting comes from the environment or the command line and cannot be changed here. */
export const isFixed = (setting: { origin: string } | undefined): boolean =>
  setting?.origin === 'environment' || setting?.origin === 'command_line';

/** Changes a setting; null resets it. */
export const setSetting = (key: string, value: unknown) => rpc('config.set', { key, value });

/** The list in a setting; empty if it has another form. */
export const listOf = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
