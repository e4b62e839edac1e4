import { expect, test } from './fixtures/test';
import { ModelServer } from './fixtures/model';
import { SpeechVendor } from './fixtures/speech';

let vendor: SpeechVendor;
let model: ModelServer;
test.use({
  environment: async ({}, use) => {
    vendor = await SpeechVendor.start();
    model = await ModelServer.start();
    await use({ ...vendor.environment, ...model.environment });
    await vendor.close();
    await model.close();
  },
  permissions: ['microphone'],
});

test('look', async ({ home, page }) => {
  const shot = async (name: string) => {
    for (const scheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme: scheme });
      for (const [kind, width, height] of [['desk', 1440, 900], ['phone', 390, 844]] as const) {
        await page.setViewportSize({ width, height });
        await page.screenshot({ path: `/tmp/shots-voice/${name}-${scheme}-${kind}.png`, fullPage: true });
      }
    }
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.emulateMedia({ colorScheme: 'light' });
  };
  await page.goto('/settings/voice');
  await expect(page.getByRole('heading', { name: 'Hear it' })).toBeVisible();
  await page.getByRole('button', { name: 'Speak', exact: true }).click();
  await expect(page.getByText('Spoken by OpenAI')).toBeVisible();
  await shot('speaking');
  await page.getByRole('button', { name: 'Change OpenAI' }).click();
  await shot('provider');
  await page.keyboard.press('Escape');
  await page.goto('/settings/voice/listening');
  await page.getByRole('button', { name: 'Record' }).click();
  await expect(page.getByRole('timer')).toHaveText('0:02');
  await shot('recording');
  await page.getByRole('button', { name: 'Stop' }).click();
  await expect(page.getByText('turn the lights on')).toBeVisible();
  await page.getByText('Words and their times').click();
  await shot('listening');
  await page.goto('/settings/voice/personas');
  await expect(page.getByText('No persona yet')).toBeVisible();
  await shot('personas-empty');
  await page.getByRole('button', { name: 'New persona' }).click();
  await page.getByLabel('Name').fill('Narrator');
  await page.getByLabel('Who speaks').fill('An old sailor');
  await page.getByLabel('Choose a provider').selectOption('OpenAI');
  await page.getByRole('button', { name: 'Add' }).click();
  await page.getByRole('button', { name: 'Save and hear' }).click();
  await expect(page.getByText('Spoken by OpenAI')).toBeVisible();
  await shot('persona');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByRole('button', { name: 'Make active Narrator' }).click();
  await shot('personas');
  console.log(JSON.stringify(vendor.spoken), vendor.listened.map((one) => [one.fields, one.fileName, one.audio.length]));
});
