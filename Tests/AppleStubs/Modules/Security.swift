// A stub of the keychain. Types of Core Foundation stand for the Swift types that Apple's compiler bridges them to.
import Foundation

public typealias CFString = String
public typealias CFDictionary = [CFString: Any]
public typealias CFTypeRef = AnyObject
public typealias OSStatus = Int32

public let kSecAttrAccessGroup: CFString = ""
public let kSecAttrAccessible: CFString = ""
public let kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly: CFString = ""
public let kSecAttrAccount: CFString = ""
public let kSecAttrService: CFString = ""
public let kSecClass: CFString = ""
public let kSecClassGenericPassword: CFString = ""
public let kSecMatchLimit: CFString = ""
public let kSecMatchLimitOne: CFString = ""
public let kSecMatchLimitAll: CFString = ""
public let kSecReturnAttributes: CFString = ""
public let kSecReturnData: CFString = ""
public let kSecValueData: CFString = ""

public let errSecSuccess: OSStatus = 0
public let errSecDuplicateItem: OSStatus = -25299
public let errSecInteractionNotAllowed: OSStatus = -25308
public let errSecItemNotFound: OSStatus = -25300

public func SecItemAdd(_ attributes: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus { 0 }
public func SecItemCopyMatching(_ query: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus { 0 }
public func SecItemDelete(_ query: CFDictionary) -> OSStatus { 0 }
public func SecCopyErrorMessageString(_ status: OSStatus, _ reserved: UnsafeMutableRawPointer?) -> CFString? { nil }
