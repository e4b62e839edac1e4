import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { senderMarks, senderTable } from './sender-marks.mjs';

function vendors(marks) {
  const folder = mkdtempSync(join(tmpdir(), 'vendors-'));
  for (const [name, mark] of Object.entries(marks)) {
    mkdirSync(join(folder, name));
    const profile = name === 'github' ? 'codehost_a' : name;
    writeFileSync(join(folder, name, 'german.json'), JSON.stringify({ profile }));
    if (mark !== null) writeFileSync(join(folder, name, 'mark.txt'), `${mark}\n`);
  }
  return pathToFileURL(`${folder}/`);
}

test('a folder with a mark is in the table', () => {
  const marks = senderMarks(vendors({ jira: 'jira', cal_com: 'caldotcom', plain: null }));
  expect(marks).toEqual([
    ['cal_com', 'caldotcom'],
    ['jira', 'jira'],
  ]);
  const table = senderTable(marks);
  expect(table).toContain("import caldotcom from 'simple-icons/icons/caldotcom.svg?path';");
  expect(table).toContain('  cal_com: caldotcom,\n  jira,\n');
});

test('a mark belongs to the ID of the profile, not to the name of the folder', () => {
  const marks = senderMarks(vendors({ github: 'github', cal_com: 'caldotcom' }));
  expect(marks).toEqual([
    ['cal_com', 'caldotcom'],
    ['codehost_a', 'github'],
  ]);
});

test('an icon that does not exist ends the generation', () => {
  for (const mark of ['nosuchicon', '../github', '']) {
    expect(() => senderMarks(vendors({ jira: mark }))).toThrow('jira/mark.txt');
  }
});
