// Why a field is refused, in the two or three words that a status has room for.

/** The reasons of INVALID_INPUT by the words for them, which are below "invalid" in the locale files. */
const REASONS: Record<string, readonly string[]> = {
  missing: ['missing', 'noAddress', 'noSample'],
  nothing: ['nothing', 'nothingSecret', 'mayNotFill', 'sourceSilent'],
  mac: ['notMac'],
  number: ['notNumber', 'notInteger', 'notStep', 'notVersion', 'notRange'],
  range: ['outOfRange', 'notPriority', 'profileRange', 'profileQos'],
  choice: [
    'notWord',
    'notChoice',
    'notForm',
    'notAccessType',
    'notMethod',
    'action',
    'unknownKind',
    'nothingPasses',
  ],
  type: [
    'notBoolean',
    'notText',
    'notVoid',
    'notObject',
    'notExt',
    'noExt',
    'notList',
    'notQuery',
    'extWithHex',
    'kindWithoutValue',
  ],
  hex: ['notHexBytes', 'notBytes', 'notEncodable'],
  json: ['notJson', 'notJsonBody', 'notCopied', 'notRecord', 'notReportTopic', 'notPassing', 'notOfTopic'],
  entry: ['badEntry', 'unknownPart', 'missingPart', 'ownParameter'],
  long: ['tooLong', 'tooMany', 'packetTooLarge', 'profileBytes', 'profileLevels'],
  characters: [
    'control',
    'notLevel',
    'notWildcard',
    'notGroup',
    'notHeader',
    'reservedHeader',
    'profileSpaces',
    'profileDots',
  ],
  address: ['notHttpUrl', 'secretInUrl', 'badPath', 'badPort', 'notBroker', 'tornQuery', 'notProxy'],
  gone: ['noTls', 'noProxy', 'notKept', 'notOpen'],
  files: ['badTls'],
  property: ['notIdentifier', 'noHexId', 'noName'],
  unheard: ['notSeen'],
  broker: ['profileVersion', 'profileShared'],
  expression: ['expression'],
  likeMac: ['likeMac'],
  device: ['notDevice'],
  label: ['notLabel', 'notLabels', 'noLabelledGateway'],
};

const WORDS = new Map(
  Object.entries(REASONS).flatMap(([word, reasons]) => reasons.map((reason) => [reason, word] as const)),
);

/** @param reason of an error with INVALID_INPUT @returns the key of a text of the shared locale files */
export function shortReason(reason: string): string {
  return `invalid.${WORDS.get(reason) ?? 'value'}`;
}
