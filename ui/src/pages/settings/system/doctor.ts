// The health checks of the gateway, in the language of the page.
import type { Check } from '../../../client/generated/rpc';
import { keys } from '../../../client/keys';
import { rpc } from '../../../client/rpc';
import { checksInWords, type Translated } from '../../../phrases/checks';

/** A check whose texts may be translated. */
export type TranslatedCheck = Check & { inLanguage?: Translated };

async function load(): Promise<{ checks: TranslatedCheck[] }> {
  const [{ checks }, inWords] = await Promise.all([rpc('system.doctor'), checksInWords()]);
  return { checks: checks.map(inWords) };
}

export const doctorQuery = { queryKey: [...keys.system, 'doctor'], queryFn: load };
