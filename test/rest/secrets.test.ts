// Passwords and tokens in what is shown: hidden in every spelling, also at the cut.
import assert from 'node:assert/strict';
import { hideSecrets, showBody, spellingsOf } from '../../src/rest/secrets.ts';
import { itAtScale } from '../at-scale.ts';

const SECRET = 'pä ss/"w?';
const JWT = `eyJ${'a'.repeat(8)}.b-_.c_-`;

describe('secrets', () => {
  const SPELLINGS: Record<string, string> = {
    plain: SECRET,
    'in JSON': JSON.stringify(SECRET).slice(1, -1),
    'in JSON with escaped slashes': JSON.stringify(SECRET).slice(1, -1).replaceAll('/', '\\/'),
    'in a URL': encodeURIComponent(SECRET),
    'in a form': encodeURIComponent(SECRET).replaceAll('%20', '+'),
    'every byte encoded': [...Buffer.from(SECRET)]
      .map((byte) => `%${byte.toString(16).padStart(2, '0')}`)
      .join(''),
    'every byte encoded in capitals': [...Buffer.from(SECRET)]
      .map((byte) => `%${byte.toString(16).padStart(2, '0').toUpperCase()}`)
      .join(''),
    'in hex': Buffer.from(SECRET).toString('hex'),
    'in hex in capitals': Buffer.from(SECRET).toString('hex').toUpperCase(),
    'in Base64': Buffer.from(SECRET).toString('base64'),
    'in Base64 without padding': Buffer.from(SECRET).toString('base64').replace(/=+$/, ''),
  };
  for (const [how, spelling] of Object.entries(SPELLINGS)) {
    it(`are hidden ${how}, wherever they stand`, () => {
      assert.equal(hideSecrets(`<${spelling}|${spelling}>`, [SECRET]), '<***|***>');
      // Others look for them in texts that they do not decode.
      assert.ok(how.includes('escaped') || spellingsOf(SECRET).includes(spelling));
    });
  }

  const HARD = `ä+"'<>&/`;
  const HARD_SPELLINGS: Record<string, string> = {
    'in the JSON of Python': '\\u00e4+\\"\'<>&/',
    'in the JSON of PHP': '\\u00e4+\\"\'<>&\\/',
    'in the JSON of Go': 'ä+\\"\'\\u003c\\u003e\\u0026/',
    'in the JSON of .NET': '\\u00E4\\u002B\\u0022\\u0027\\u003C\\u003E\\u0026/',
    'in a URL of .NET': "%c3%a4%2b%22'%3c%3e%26%2f",
    'in HTML': 'ä+&quot;&#39;&lt;&gt;&amp;/',
    'in the HTML of PHP': 'ä+&quot;&#039;&lt;&gt;&amp;/',
    'in the HTML of Python': 'ä+&quot;&#x27;&lt;&gt;&amp;/',
    'in the HTML of Go': 'ä&#43;&#34;&#39;&lt;&gt;&amp;/',
    'in XML': 'ä+&quot;&apos;&lt;&gt;&amp;/',
    'in a text of HTML': `ä+"'&lt;&gt;&amp;/`,
    'in Base64 of addresses': Buffer.from(HARD).toString('base64url'),
  };
  for (const [how, spelling] of Object.entries(HARD_SPELLINGS)) {
    it(`are hidden ${how}`, () => {
      assert.equal(hideSecrets(`(${spelling}) ${spelling}.`, [HARD]), '(***) ***.');
    });
  }

  const RARE = "a!'(b)*c~=";
  for (const [how, spelling] of Object.entries({
    'in a form of Java and browsers': 'a%21%27%28b%29*c%7E%3D',
    'in a form of Python': 'a%21%27%28b%29%2Ac~%3D',
    'in a form of PHP': 'a%21%27%28b%29%2Ac%7E%3D',
    'in a form of PHP in small letters': 'a%21%27%28b%29%2ac%7e%3d',
    'in the JSON of Java': 'a!\\u0027(b)*c~\\u003d',
  })) {
    it(`are hidden ${how}`, () => {
      assert.equal(hideSecrets(`(${spelling}) ${spelling}.`, [RARE]), '(***) ***.');
    });
  }

  const OTHERS = `It's~Me(2)! *x+y=z/$&:@"\\ä`;
  for (const [how, spelling] of Object.entries({
    'in a form of .NET': 'It%27s%7EMe(2)!+*x%2By%3Dz%2F%24%26%3A%40%22%5C%C3%A4',
    'in a path of Go': 'It%27s~Me%282%29%21%20%2Ax+y=z%2F$&:@%22%5C%C3%A4',
    'in an address of JavaScript': "It's~Me(2)!%20*x+y=z/$&:@%22%5C%C3%A4",
    'in an address, encoded twice':
      'It%2527s~Me(2)!%2520*x%252By%253Dz%252F%2524%2526%253A%2540%2522%255C%25C3%25A4',
    'in an address in ISO 8859-1': "It's~Me(2)!%20*x%2By%3Dz%2F%24%26%3A%40%22%5C%E4",
    'in the JSON of Flask': 'It\\u0027s~Me(2)! *x+y=z/$\\u0026:@\\"\\\\\\u00e4',
    'in JSON with quotes as codes': 'It\\u0027s~Me(2)! *x+y=z\\/$\\u0026:@\\u0022\\\\ä',
    'in JSON in JSON': 'It\'s~Me(2)! *x+y=z/$&:@\\\\\\"\\\\\\\\ä',
    'in JavaScript': 'It\\x27s~Me(2)! *x+y=z/$&:@\\x22\\x5C\\xE4',
    'in an address in JSON in HTML': 'It\\u0027s~Me(2)!%20*x+y=z\\/$&amp;:@%22%5C%C3%A4',
  })) {
    it(`are hidden where an encoder leaves other characters: ${how}`, () => {
      assert.equal(hideSecrets(`(${spelling}) ${spelling}.`, [OTHERS]), '(***) ***.');
    });
  }

  for (const [secret, spelling] of [
    ['Grün"x1', 'Gr\ufffdn"x1'],
    ['Grün\\"x1', 'Gr\ufffdn\\"x1'],
    ['Grün\\\\x1z', 'Gr\ufffdn\\\\x1z'],
    ['Grün%20x1', 'Gr\ufffdn%20x1'],
    ['Grün%20x1', 'Gr%FCn%2520x1'],
    ['Grün\\x41b1', 'Gr\ufffdn\\x41b1'],
    ['Zürich%20ab', 'Z&uuml;rich%20ab'],
    ["pa'ss+word", 'pa\\u0026#x27;ss\\u0026#x2B;word'],
    ['Zürich&2024', 'Z\\u0026#252;rich\\u0026amp;2024'],
    ["a=b'cd1", 'a%5Cu003db%5Cu0027cd1'],
    ["a€b'cd1", 'a%u20ACb%27cd1'],
    ['0=\t"/\n1', '0\\u003d\\t\\"\\/\\n1'],
    ['a=b\r1', 'a\\u003db\\r1'],
    ['%419&lt/&gt;', '%419&lt\\/&gt;'],
    ['Abc%20&def9', 'Abc%20&amp;amp;def9'],
    ['Pa55%41"xyz', 'Pa55%41&amp;quot;xyz'],
    ['&#9a/+éaé#', '&#9a\\/+\\u00e9a\\u00e9#'],
  ] as const) {
    it(`are hidden where they hold codes themselves, or codes hold codes: ${spelling}`, () => {
      assert.match(hideSecrets(`no ${spelling} here`, [secret]), /^no \*\*\* here$/);
    });
  }

  for (const code of ['&#150;', '&#x96;', '\\u0096', '\\x96', '%96', '\x96']) {
    it(`with a letter that another charset has as ${JSON.stringify(code)} are hidden`, () => {
      assert.equal(showBody(`no Geheim${code}Wort9 here`, ['Geheim–Wort9']), 'no *** here');
    });
  }

  for (const code of ['\\u0000', '%00', '&#0;', '\0', '\\x01']) {
    it(`are hidden with ${JSON.stringify(code)} between their characters, as UTF-16 that was read as UTF-8`, () => {
      const spelling = [...'correct-horse9'].join(code);
      assert.match(showBody(`{"m":"no ${spelling} here"}`, ['correct-horse9']), /^\{"m":"no \*\*\* here"\}$/);
      assert.match(hideSecrets(`no ${spelling} here`, ['correct-horse9']), /^no \*\*\* here$/);
    });
  }

  it('are hidden in each of several places, by folding or decoding, and the rest stays as it was', () => {
    const secrets = ['grün!Weg99', 'tok#enXYZ123'];
    const text = 'ö &amp; gr\ufffdn!Weg99gr\ufffdn!Weg99 &auml; grün&excl;Weg99 é tok&num;enXYZ123 &auml;';
    assert.equal(hideSecrets(text, secrets), 'ö & *** &auml; *** é *** &auml;');
    assert.equal(hideSecrets('&auml;ö gr&uuml;n!Weg99, &euro;x', secrets), '&auml;ö ***, &euro;x');
    assert.equal(hideSecrets('gr\ufffdn!Weg99', secrets), '***');
  });

  it('bring no control characters into the text, which codes may stand for', () => {
    const body = '\\u001b[2J\\u0000 %1b]0;x%07 &#27;[1m s%65cret';
    assert.equal(hideSecrets(body, ['secret']), '[2J ]0;x [1m ***');
    const long = `${body.slice(0, -12)}${' '.repeat(16_000)}`;
    assert.equal(showBody(long, ['secret']), long.slice(0, 500));
    const shown = showBody(`${'secret '.repeat(2_200)}\\u001b%1b${'x'.repeat(20_000)}`, ['secret']);
    assert.equal(shown.includes('\x1b'), false);
  });

  it('that are not there leave also a long text as it came', () => {
    const long = `{"q":"a%26b%20c%2B1 \\"x\\" &lt;p&gt;"}${' '.repeat(16_000)}`;
    assert.equal(showBody(long, ['secret', 'x'.repeat(900)]), long.slice(0, 500));
  });

  it('are looked for in other spellings where a text is not decoded', () => {
    assert.ok(spellingsOf('a b/c').includes('a%20b/c'));
    // Five letters of Base64 could be a part of anything.
    assert.ok(!spellingsOf('abcd').includes('YWJjZ'));
  });

  it('leave a text with codes of addresses and JSON as it came where none is in it', () => {
    const text = '%7Ex%zz%e4 \\u0041 \\"b\\" \\q %';
    assert.equal(hideSecrets(text, ['secret']), text);
    assert.equal(hideSecrets(`se%63ret ${text}`, ['secret']), '*** ~x%zz\ufffd A "b" \\q %');
    assert.equal(hideSecrets('se%63ret %C3%A4%c3%a4', ['secret']), '*** ää');
    assert.equal(hideSecrets(`\\x73ecret ${text}`, ['secret']), '*** %7Ex%zz%e4 A "b" \\q %');
    assert.equal(hideSecrets(`a%7Eb1 ${text}`, ['a%7Eb1']), `*** ${text}`);
  });

  const codes = (text: string, code: (point: number) => string) =>
    [...text].map((letter) => code(letter.codePointAt(0) as number)).join('');
  const MANY = `${HARD}🏢word`;
  const HTML_SPELLINGS: Record<string, string> = {
    decimal: codes(MANY, (point) => `&#${point};`),
    'decimal with zeros': codes(MANY, (point) => `&#${`${point}`.padStart(7, '0')};`),
    hexadecimal: codes(MANY, (point) => `&#x${point.toString(16)};`),
    'decimal with many zeros': codes(MANY, (point) => `&#${`${point}`.padStart(90, '0')};`),
    'decimal without an end': codes(MANY, (point) => `&#${point}`),
    'hexadecimal without an end': codes(MANY, (point) => `&#x${point.toString(16)}`),
    twice: codes(MANY, (point) => `&amp;#${point};`),
    'by name': '&auml;&plus;&quot;&apos;&lt;&gt;&amp;&sol;🏢word',
    'by name, without an end': 'ä+&quot&apos;&lt&gt&amp/🏢word',
    'by name, twice': "&amp;auml;+&amp;quot;'&amp;lt;&amp;gt;&amp;amp;/🏢word",
    'hexadecimal, in capitals': codes(MANY, (point) => `&#X${point.toString(16).toUpperCase()};`),
    'in part': 'ä&#43;&quot;&#x27;&LT;>&amp;/&#127970;&#119;ord',
    'around JSON': '&#228;+\\&quot;&#39;&lt;&gt;&amp;/🏢w&#111;rd',
  };
  for (const [how, spelling] of Object.entries(HTML_SPELLINGS)) {
    it(`are hidden in codes of HTML, ${how}`, () => {
      assert.equal(hideSecrets(`(${spelling}) ${spelling}.`, [MANY]), '(***) ***.');
    });
  }

  it('are hidden where each character of ASCII that has a name is written by it', () => {
    const names =
      '&excl;&num;&dollar;&percnt;&lpar;&rpar;&ast;&plus;&comma;&period;&sol;&colon;&semi;&equals;&quest;&commat;&lsqb;' +
      '&bsol;&rsqb;&Hat;&lowbar;&grave;&lcub;&vert;&rcub;&Tab;&NewLine;&lbrack;&rbrack;&lbrace;&rbrace;&verbar;&VerticalLine;' +
      '&midast;&UnderBar;';
    assert.equal(hideSecrets(`a${names}b`, ['a!#$%()*+,./:;=?@[\\]^_`{|}\t\n[]{}||*_b']), '***');
  });

  it('leave a text with codes as it came where none is in it, also where a code is none', () => {
    const text = '&#115;ecre &lt;p&gt; &#9999999; &#xffffff; &#; &copy;';
    assert.equal(hideSecrets(text, ['secret']), text);
    assert.equal(hideSecrets(`a&#39;b12 ${text}`, ['a&#39;b12']), `*** ${text}`);
  });

  it('are hidden in HTML also where they look like HTML themselves', () => {
    const secret = `a&amp;b"c'd+e<f>g`;
    for (const [double, single, plus] of [
      ['"', "'", '+'],
      ['&quot;', '&#39;', '+'],
      ['&quot;', '&#039;', '+'],
      ['&quot;', '&#x27;', '+'],
      ['&quot;', '&apos;', '+'],
      ['&#34;', '&#39;', '&#43;'],
    ]) {
      const spelling = `a&amp;amp;b${double}c${single}d${plus}e&lt;f&gt;g`;
      assert.equal(hideSecrets(`&lt;${spelling}&gt;`, [secret]), '<***>');
    }
  });

  const MISREAD: Record<string, string> = {
    'in ISO 8859-1': Buffer.from('pässwörd§-1234', 'latin1').toString(),
    'in UTF-16': Buffer.from('pässwörd§-1234', 'utf16le').toString(),
    'in UTF-8 that was taken for ISO 8859-1': Buffer.from('pässwörd§-1234').toString('latin1'),
    'in UTF-8 that lost a byte': Buffer.from('pässwörd§-1234').toString().replace('ö', '\ufffd'),
  };
  for (const [how, spelling] of Object.entries(MISREAD)) {
    it(`with letters beyond ASCII are hidden ${how}`, () => {
      assert.equal(showBody(`é (${spelling}) ${spelling}.`, ['pässwörd§-1234']), 'é (***) ***.');
    });
  }

  it('of which hardly anything is ASCII leave other letters beyond ASCII as they came', () => {
    assert.equal(showBody('ошибка &pcy; 12', ['пароль', 'äöüß12']), 'ошибка &pcy; 12');
  });

  it('are hidden where other characters than the visible ones stand between theirs', () => {
    const utf16 = Buffer.from(`a\n\t${JWT} secret`, 'utf16le').toString();
    assert.equal(showBody(utf16, ['secret']), 'a\n\t*** ***');
    assert.equal(showBody('<aa\u0001bb>', ['aa\u0001bb']), '<***>');
  });

  it('are hidden in JSON with a backslash in them, also where quotes are codes', () => {
    assert.equal(hideSecrets('aaa\\\\\\"b aaa\\\\\\u0022b', ['aaa\\"b']), '*** ***');
  });

  it('are hidden with bytes below 16, and with control characters', () => {
    assert.equal(hideSecrets('aa%01bb %61%61%01%62%62', ['aa\u0001bb']), '*** ***');
  });

  it('are hidden when one is a part of the other, the longer one first', () => {
    assert.equal(hideSecrets('secret-secret2', ['secret', 'secret2']), '***-***');
  });

  it('are hidden with half of a surrogate pair in them', () => {
    assert.equal(hideSecrets('aa\ud800bb', ['aa\ud800bb']), '***');
  });

  for (const [text, secret] of [
    ['/api/v1/devices', 'p'],
    ['wrong password', 'pass'],
    ['text', ''],
  ] as const) {
    it(`leave words alone when they are as short as "${secret}"`, () => {
      assert.deepEqual([hideSecrets(text, [secret]), showBody(text, [secret])], [text, text]);
    });
  }

  it('are hidden from five characters on, also where nothing else is shown, up to the last character that there is', () => {
    assert.equal(hideSecrets('a sword: words', ['words']), 'a sword: ***');
    assert.equal(hideSecrets('pässw', ['pässw']), '***');
    assert.equal(showBody(Buffer.from('pässw', 'latin1').toString(), ['pässw']), '***');
    assert.equal(hideSecrets('word&#x10ffff;', ['word\u{10ffff}']), '***');
  });

  it('are hidden in Base64 of which both marks of the end were left out', () => {
    assert.equal(hideSecrets('(cD8+Pz4/Pg)', ['p?>?>?>']), '(***)');
  });

  for (const before of ['Bearer ', 'Bearer: ', 'Token: "']) {
    for (const behind of ['', '.', '.\n', '.\r\n']) {
      it(`are hidden in Base64 of a longer text: ${JSON.stringify(before + behind)}`, () => {
        const token = 'pä?s~s/~?w?ord>>>';
        for (const encoding of ['base64', 'base64url'] as const) {
          const text = Buffer.from(`${before}${token}${behind}`).toString(encoding);
          const hidden = hideSecrets(text, [token]);
          // A letter beside it may hold bits of both.
          assert.match(hidden, /^\w+[\w+/-]\*\*\*[\w+/=-]{0,8}$/);
          assert.ok(Math.abs(hidden.length - (before.length + behind.length) * (4 / 3)) < 8, hidden);
        }
      });
    }
  }

  for (const before of ['-', '--', '---']) {
    it(`are looked for in Base64 where six letters of it are theirs alone, behind ${before}`, () => {
      const encoded = (secret: string) => Buffer.from(`${before}${secret}---`).toString('base64');
      assert.match(hideSecrets(encoded('words'), ['words']), /\*\*\*/);
      assert.equal(hideSecrets(encoded('word'), ['word']), encoded('word'));
    });
  }

  it('hide nothing when there are none', () => {
    assert.deepEqual(spellingsOf(''), []);
    assert.equal(showBody('text', []), 'text');
  });

  it('are known as tokens by their shape, also such as never came here', () => {
    assert.equal(
      hideSecrets(`a ${JWT} b xeyJ${'a'.repeat(8)}.b.c eyJshort.b.c`, []),
      `a *** b xeyJ${'a'.repeat(8)}.b.c eyJshort.b.c`,
    );
    assert.equal(hideSecrets(`(${`eyJ${'a'.repeat(8)}`}.b.)`, []), '(***)');
  });

  for (const [text, expected] of [
    ['a eyJhbGciOiJI.eyJzdWIi.c2ln b', 'a *** b'],
    ['"eyJhbGciOiJI.x."', '"***"'],
    ['eyJhbGciOiJI.x..y', '***.y'],
    ['eyJhbGciOiJI.x., eyJhbGciOiJI.y.z', '***, ***'],
    ['a.b.eyJhbGciOiJI.x.y.z', 'a.b.***.z'],
    ['-eyJhbGciOiJI.x.y', '-***'],
    ['aeyJhbGciOiJI.x.y', 'aeyJhbGciOiJI.x.y'],
    ['eyJhbGci.x.y', 'eyJhbGci.x.y'],
    ['eyJhbGciOiJI.x', 'eyJhbGciOiJI.x'],
    ['eyJhbGciOiJI..y', 'eyJhbGciOiJI..y'],
    ['eyJhbGciOiJI . x.y', 'eyJhbGciOiJI . x.y'],
    ['eyJhbGciOiJI.x y', 'eyJhbGciOiJI.x y'],
  ] as const) {
    it(`are known as tokens by three parts with dots: ${text}`, () => {
      assert.equal(hideSecrets(text, []), expected);
    });
  }

  itAtScale('are searched in a time that grows with the text, whatever a hostile service sends', () => {
    const parts = [
      '-eyJaaaaaaaa',
      'eyJaaaaaaaa.',
      'eyJaaaaaaaa.-',
      '.',
      '&#x0',
      '&#00',
      '&#38;#',
      '&#',
      '&#x',
      '&#0x',
      '&am',
      `&${'a'.repeat(40)}`,
      '&auml;',
      'ä',
      '\ufffda',
      '\0',
      '&amp;',
    ];
    for (const part of parts) {
      const start = performance.now();
      const text = part.repeat(100_000 / part.length);
      for (const secret of ['secret', 'sécret', `${part}${'ä'.repeat(1_000)}secret`]) {
        hideSecrets(text, [secret]);
        showBody(text, [secret]);
      }
      // By the square it would be many seconds.
      assert.ok(performance.now() - start < 2_000, part);
    }
  });

  it('that are longer than the text take no time, however many spellings they have', () => {
    const long = '<&"é'.repeat(100_000);
    const start = performance.now();
    for (let i = 0; i < 10; i++) {
      assert.equal(hideSecrets('a text', [long]), 'a text');
      assert.equal(showBody('a text', [long]), 'a text');
      assert.equal(showBody('x'.repeat(16_001), [long]), '');
    }
    // With all of their spellings each time it would be half a minute.
    assert.ok(performance.now() - start < 2_000);
  });

  it('are hidden before a body is cut to 500 characters', () => {
    assert.equal(showBody(`${'x'.repeat(494)} ${JWT} end`, []), `${'x'.repeat(494)} *** e`);
    assert.equal(showBody('y'.repeat(501), []), 'y'.repeat(500));
  });

  it('are not shown by half where a body was too long to be searched to its end', () => {
    const secret = 'secret-that-is-cut';
    const many = secret.repeat(888);
    assert.ok(many.length < 16_000 && many.length + secret.length > 16_000);
    const searched = `${many}${secret.slice(0, 16_000 - many.length)}`;
    const shown = showBody(`${searched}${secret}`, [secret]);
    assert.equal(shown, '***'.repeat(888).slice(0, 500));
    // Nothing but the end is left, and of it nothing that a spelling of the secret could reach into.
    const late = showBody(`${'eyJaaaaaaaa.b.c '.repeat(999)}${' '.repeat(5)}${secret.repeat(2)}`, [secret]);
    assert.ok(!late.includes('secret'), late);
  });

  it('take only their own length from the end of a long body, and all of it where one is longer than what is searched', () => {
    const body = 'x'.repeat(16_001);
    assert.equal(showBody(body, []), 'x'.repeat(500));
    assert.equal(showBody(body, ['secret', 'y'.repeat(16_001)]), '');
  });

  it('are not shown by half in codes of HTML either', () => {
    const secret = 'secret-that-is-cut';
    const spelled = codes(secret, (point) => `&#${`${point}`.padStart(7, '0')};`);
    const start = `${`${JWT} `.repeat(15_900 / (JWT.length + 1))}`;
    const shown = showBody(`${start.slice(0, 15_900)}${spelled}`, [secret]);
    assert.match(shown, /^(\*\*\* )+/);
    assert.doesNotMatch(shown, /&#/);
  });

  it('are not shown by half in codes of JSON or addresses either', () => {
    const secret = 'secret-that-is-cut';
    for (const spelled of [
      codes(secret, (point) => `\\u00${point.toString(16)}`),
      codes(secret, (point) => `%25${point.toString(16)}`),
    ]) {
      const start = `${JWT} `.repeat(1_000).slice(0, 16_000 - spelled.length + 10);
      const shown = showBody(`${start}${spelled}`, [secret]);
      assert.match(shown, /^(\*\*\* )+/);
      assert.doesNotMatch(shown, /[\\%]|sec/);
    }
  });

  it('are not shown by half when hardly anything else is in a long body', () => {
    const secret = Array.from({ length: 750 }, (_, index) => `${index}`.padStart(4, 'k')).join('');
    assert.equal(secret.length, 3_000);
    assert.equal(showBody(secret.repeat(6), [secret]), '');
  });

  it('are hidden in a URL without the half of a surrogate pair that no URL has', () => {
    assert.equal(hideSecrets(encodeURIComponent('éé bb'), ['éé\ud800 bb']), '***');
  });

  it('take nothing from the end of a body that was searched whole', () => {
    const body = `${' '.repeat(10)}secret-that-is`;
    assert.equal(showBody(body, ['secret-that-is-cut']), body);
    assert.equal(showBody('x'.repeat(16_000), ['secret']), 'x'.repeat(500));
  });

  it('are hidden also where the settings hold something else than text', () => {
    assert.equal(hideSecrets('code 12345', [12345 as unknown as string]), 'code ***');
  });
});
