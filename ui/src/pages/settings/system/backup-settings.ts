// The settings of scheduled backups, as the fields of a form.
import type { Setting } from '../../../client/generated/rpc';
import { keys } from '../../../client/keys';
import { rpc } from '../../../client/rpc';
import { textsOf } from '../../../phrases/texts';

/**
 * The fields in the order of saving. The schedule comes last, when the other values are in effect.
 */
const FIELDS = ['recipient', 'to', 'keep', 'schedule'] as const;
export type BackupField = (typeof FIELDS)[number];
export type BackupForm = Record<BackupField, string>;

/** Cron patterns that the form offers by name. */
export const PATTERNS = { off: '', daily: '30 3 * * *', weekly: '30 3 * * 0' } as const;
export type Choice = keyof typeof PATTERNS | 'own';

/** Returns the choice with this cron pattern. */
export const choiceOf = (pattern: string): Choice =>
  (['off', 'daily', 'weekly'] as const).find((choice) => PATTERNS[choice] === pattern.trim()) ?? 'own';

export const keyOf = (field: BackupField) => `backup.${field}`;

/** The stored values. An unset value is empty. */
export function formOf(settings: ReadonlyMap<string, Pick<Setting, 'value'>>): BackupForm {
  const text = (field: BackupField) => {
    const value: unknown = settings.get(keyOf(field))?.value;
    return value === null || value === undefined ? '' : String(value);
  };
  return { schedule: text('schedule'), to: text('to'), keep: text('keep'), recipient: text('recipient') };
}

/** The fields that differ, with the values for `config.set`. An empty field resets its setting. */
export function changesOf(before: BackupForm, after: BackupForm): [BackupField, string | number | null][] {
  const valueOf = (field: BackupField) => {
    const typed = after[field].trim();
    if (typed === '') return null;
    return field === 'keep' && Number.isFinite(Number(typed)) ? Number(typed) : typed;
  };
  return FIELDS.filter((field) => before[field].trim() !== after[field].trim()).map((field) => [field, valueOf(field)]);
}

/** Values and descriptions, by key. */
export const backupSettings = () => ({
  queryKey: [...keys.config, 'backup'],
  queryFn: async () => {
    const asked = { keys: ['backup'] };
    const [{ values }, { settings }, text] = await Promise.all([
      rpc('config.get', asked),
      rpc('config.describe', asked),
      textsOf('settings'),
    ]);
    return {
      values: new Map(values.map((one) => [one.key, one])),
      described: new Map(settings.map((one) => [one.key, { ...one, doc: text(one.doc) }])),
    };
  },
});
